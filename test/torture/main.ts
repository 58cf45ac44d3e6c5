/** Runs the script that is named, or lists them. Each gets a folder that is removed afterwards, with all its processes. */
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createRunFolder } from '../support/run-folder.ts'

/** What every script in this folder exports as `torture`. Throws if something is not as it must be. */
export type Torture = (parts: { folder: string; args: readonly string[] }) => Promise<void>

const [name, ...args] = process.argv.slice(2)
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
if (name === undefined || !names.includes(name)) {
  process.stdout.write(`usage: npm run torture <name>\n${names.map((each) => `  ${each}\n`).join('')}`)
  process.exit(name === undefined ? 0 : 64)
}

const folder = createRunFolder(tmpdir())
try {
  const { torture } = (await import(`./${name}.ts`)) as { torture: Torture }
  await torture({ folder: folder.path, args })
} finally {
  await folder.remove()
}
process.exit()
