/** Runs one of the scripts in this folder by its name. `--help` lists them with the first line of each. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = import.meta.dirname
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
const [name] = process.argv.slice(2)

if (name !== undefined && names.includes(name)) {
  await import(`./${name}.ts`)
} else {
  const lines = names.map((each) => {
    const [first = ''] = readFileSync(join(folder, `${each}.ts`), 'utf8').split('\n')
    return `  ${each.padEnd(12)} ${first.replace('/** ', '').replace(' */', '')}`
  })
  process.stdout.write(`npm run torture -- <name> [options]\n\n${lines.join('\n')}\n`)
  process.exitCode = name === undefined || name === '--help' ? 0 : 64
}
