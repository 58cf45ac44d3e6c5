/**
 * Test files that run in one process, because loading the program takes longer than most tests: each group becomes a
 * file that imports them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../src/config/root.ts'
import { recorderFor } from './cpu-times.ts'

const filesPerProcess = 16

/** Tests that mostly wait for other programs run side by side instead. */
const exceptions: Readonly<Record<string, number>> = {
  'test/browser': 7,
  'test/cli': 1,
  'test/contract': 4,
  'test/full': 1,
  'test/programs': 1,
}

interface GroupOptions {
  /** Where the new files go. */
  folder: string
  files: readonly string[]
  /** How many threads serve in test/api, unless THREADS is set. */
  apiThreads: number
}

/** Returns the files to run, in the order of the first file of each part. */
export function groupFiles({ folder, files, apiThreads }: GroupOptions): string[] {
  const groups = new Map<string, string[][]>()
  for (const file of files) {
    const part = partOf(file)
    const known = groups.get(part) ?? []
    groups.set(part, known)
    const last = known.at(-1)
    if (last && last.length < sizeOf(part, files)) last.push(file)
    else known.push([file])
  }
  mkdirSync(join(folder, 'groups'))
  return [...groups].flatMap(([part, known]) =>
    known.map((group, index) => {
      const name = `${part.replaceAll('/', '-')}-${index + 1}`
      const path = join(folder, 'groups', `${name}.test.ts`)
      writeFileSync(path, contentOf(name, group, part === 'test/api' ? apiThreads : 1))
      return path
    }),
  )
}

/** A process of test/api has serving threads that load the program too, so there are just enough to keep cores busy. */
function sizeOf(part: string, files: readonly string[]): number {
  if (part !== 'test/api') return exceptions[part] ?? filesPerProcess
  const count = files.filter((file) => partOf(file) === part).length
  return Math.max(filesPerProcess, Math.ceil(count / (availableParallelism() + 1)))
}

/** `src`, `examples` and `test` as a whole; otherwise the folder below `test`. */
function partOf(file: string): string {
  const [first = '', second = ''] = dirname(relative(root, resolve(root, file))).split('/')
  return first === 'test' && second !== '' ? `${first}/${second}` : first
}

function contentOf(name: string, files: readonly string[], threads: number): string {
  const first = `data:text/javascript,process.env.TEST_THREADS ??= '${threads}'`
  const loaded = [recorderFor(`(loading ${name})`)]
  const urls = files.flatMap((file) => {
    const url = pathToFileURL(resolve(root, file)).href
    return [url, recorderFor(file)]
  })
  return [first, ...loaded, ...urls].map((url) => `import ${JSON.stringify(url)}\n`).join('')
}
