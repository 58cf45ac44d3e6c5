/**
 * Test files that run in one process, because loading the program takes longer than most tests: each group becomes a
 * file that imports them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../src/config/root.ts'
import { recorderFor } from './cpu-times.ts'
import { aboutThreads } from './tiers.ts'

const filesPerProcess = 16

/** Tests that mostly wait for other programs run side by side instead. */
const exceptions: Readonly<Record<string, number>> = {
  'test/api': 10,
  'test/browser': 18,
  'test/cli': 12,
  'test/contract': 8,
  'test/full': 1,
  'test/load': 5,
  'test/programs': 1,
}

const withThreads = ' with threads'

interface GroupOptions {
  /** Where the new files go. */
  folder: string
  files: readonly string[]
  isFull: boolean
}

/** Returns the files to run, in the order of the first file of each part. */
export function groupFiles({ folder, files, isFull }: GroupOptions): string[] {
  const parts = Map.groupBy(files, (file) => partOf(file, isFull))
  mkdirSync(join(folder, 'groups'), { recursive: true })
  return [...parts].flatMap(([part, all]) =>
    dealt(all, Math.ceil(all.length / sizeOf(part, all.length))).map((group, index) => {
      const name = `${part.replaceAll(/[/ ]/g, '-')}-${index + 1}`
      const path = join(folder, 'groups', `${name}.test.ts`)
      writeFileSync(path, contentOf(name, group, part.endsWith(withThreads) ? 2 : 1))
      return path
    }),
  )
}

/** In turn: neighbours have much in common, such as that they wait for timers, and would make one group the last by far. */
function dealt(files: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, index) => files.filter((_file, place) => place % count === index))
}

/** Processes with serving threads, which load the program too, are just enough to keep the cores busy. */
function sizeOf(part: string, count: number): number {
  if (!part.endsWith(withThreads)) return exceptions[part] ?? filesPerProcess
  return Math.max(filesPerProcess, Math.ceil(count / (availableParallelism() + 1)))
}

/** `src`, `examples` and `test` as a whole; otherwise the folder below `test`. */
function partOf(file: string, isFull: boolean): string {
  const [first = '', second = ''] = dirname(file).split('/')
  if (first !== 'test' || second === '') return first
  const hasThreads = second === 'api' && (isFull || aboutThreads.includes(file))
  return `${first}/${second}${hasThreads ? withThreads : ''}`
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
