/** Runs one of the scripts in this folder by its name. `--help` lists them with the comment that each begins with. */
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRunFolder } from '../support/run-folder.ts'

/** What a script exports as `torture`. Throws if something is not as it must be. The folder is removed afterwards. */
export type Torture = (parts: { folder: string; args: readonly string[] }) => Promise<void>

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
const [name, ...args] = process.argv.slice(2)

if (name !== undefined && names.includes(name)) await run(name)
else {
  const lines = names.map((each) => {
    const [comment = ''] = readFileSync(join(import.meta.dirname, `${each}.ts`), 'utf8').split('*/')
    const lines = comment.split('\n').map((line) => line.replace(/^\/?\*\*? ?|^ \* ?/, '').trim())
    return `  ${each.padEnd(12)} ${lines.filter((line) => line !== '').join(`\n${' '.repeat(15)}`)}`
  })
  process.stdout.write(`npm run torture -- <name> [options]\n\n${lines.join('\n')}\n`)
  process.exitCode = name === undefined || name === '--help' ? 0 : 64
}

async function run(script: string): Promise<void> {
  // A script without the export has run by now.
  const { torture } = (await import(`./${script}.ts`)) as { torture?: Torture }
  if (!torture) return
  const folder = createRunFolder(tmpdir())
  try {
    await torture({ folder: folder.path, args })
  } finally {
    await folder.remove()
  }
  process.exit()
}
