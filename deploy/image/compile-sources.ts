/**
 * Fills the compile cache (NODE_COMPILE_CACHE, or that of bin/latchkey) with all sources, also those that are loaded late or
 * seldom. Each thread that loads a file which is not in the cache takes 17 MB more, for Node's compiler of TypeScript.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { servingFlags } from '../../src/platform/process/steady-heap.ts'

const root = join(import.meta.dirname, '..', '..')
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith('testing/'),
)
// All are compiled before the first is run, and the first ends the process.
const urls = [
  'data:text/javascript,process.exit()',
  ...files.map((path) => pathToFileURL(join(root, 'src', path)).href),
]
const program = urls.map((url) => `import ${JSON.stringify(url)}`).join('\n')
const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || join(root, 'node_modules', '.cache', 'compiled')

// The first thread begins without the flags, and the others with them.
for (const flags of [[], servingFlags]) {
  execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_COMPILE_CACHE },
    stdio: 'inherit',
  })
}
