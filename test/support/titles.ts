/**
 * Prints the title of every test, and in which of `npm run test:fast`, `npm test` and `npm run test:full` it runs:
 *
 *     node test/support/titles.ts > titles.txt
 *
 * With a commit as argument, the titles that its tests have and these have no more. Nothing is run: `node:test` is
 * replaced by a module that only takes titles.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../src/config/root.ts'
import { filesOf, type Tier, testFiles, tiers } from './tiers.ts'

const [command, folder = '', tier = ''] = process.argv.slice(2)
if (command === '--collect') await collect(folder, tier)
else if (command === undefined) printAll()
else process.exitCode = printMissing(command)

function printAll(): void {
  const listed = tiers.map((each) => new Set(titlesIn(root, each)))
  for (const title of new Set(listed.flatMap((each) => [...each]))) {
    const marks = tiers.map((name, index) => (listed[index]?.has(title) ? name : '-').padEnd(6))
    process.stdout.write(`${marks.join(' ')} ${title}\n`)
  }
}

/** Without the name of the file, which may have moved, and the engine, which is how often a claim is repeated. */
function printMissing(commit: string): number {
  const old = mkdtempSync(join(tmpdir(), 'latchkey-titles-'))
  try {
    execFileSync('sh', ['-c', `git archive "$1" | tar x -C "$2"`, 'sh', commit, old], { cwd: root })
    symlinkSync(join(root, 'node_modules'), join(old, 'node_modules'))
    const withoutFile = (line: string) => line.slice(line.indexOf('  ') + 2)
    const present = new Set(titlesIn(root, 'full').map(withoutFile))
    const before = titlesIn(old, 'full').map(withoutFile)
    const missing = before.filter((title) => !present.has(title))
    for (const title of missing) process.stdout.write(`${title}\n`)
    process.stdout.write(
      `${before.length} tests before, ${present.size} titles now, ${missing.length} of them missing\n`,
    )
    return missing.length === 0 ? 0 : 1
  } finally {
    rmSync(old, { recursive: true })
  }
}

/** In a process of its own: a test file may change what belongs to the process. */
function titlesIn(of: string, wanted: Tier): string[] {
  const { status, stdout } = spawnSync(process.execPath, [import.meta.filename, '--collect', of, wanted], {
    env: {
      ...process.env,
      TEST_TIER: wanted,
      ...(wanted === 'fast' && { TEST_ONLY_SQLITE: '1' }),
      TEST_DATABASE_URL: 'postgres://nowhere/test',
      TEST_REDIS_URL: 'redis://nowhere',
      TEST_RUN_FOLDER: tmpdir(),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: Number.POSITIVE_INFINITY,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the titles of ${of} could not be collected`)
  return stdout.trimEnd().split('\n')
}

async function collect(of: string, wanted: string): Promise<void> {
  const titles: string[] = []
  let above: string[] = []
  const collectors = {
    describe(title: string, ...rest: unknown[]) {
      const outer = above
      above = [...above, title]
      const body = rest.at(-1)
      if (typeof body === 'function') body()
      above = outer
    },
    test: (title: string) => void titles.push([...above, title].join(' > ')),
  }
  Object.assign(globalThis, { titleCollectors: collectors })
  const noOne = ['after', 'afterEach', 'before', 'beforeEach', 'run', 'getTestContext', 'mock']
  const source = [
    'export const { describe, test } = globalThis.titleCollectors',
    'export const it = test, suite = describe',
    ...noOne.map((name) => `export const ${name} = () => undefined`),
    'export default test',
  ].join('\n')
  const stub = (text: string) => ({ url: `data:text/javascript,${encodeURIComponent(text)}`, shortCircuit: true })
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'node:test') return stub(source)
      try {
        return next(specifier, context)
      } catch (error) {
        // A package that is installed no more.
        if (of !== root && !/^[./]/.test(specifier)) return stub('export default () => undefined')
        throw error
      }
    },
  })
  const files = of === root ? filesOf(wanted as Tier) : globSync(testFiles, { cwd: of })
  for (const file of [...files].sort()) {
    const first = titles.length
    await import(pathToFileURL(join(of, file)).href)
    // Steps of a test are tests too, which are known only when it runs.
    for (const [, title] of readFileSync(join(of, file), 'utf8').matchAll(/\bt\.test\('([^']*)'/g))
      titles.push(`${title}`)
    // At once, because the process ends before a pipe has been written to in the background.
    writeSync(
      1,
      titles
        .slice(first)
        .map((title) => `${file}  ${title}\n`)
        .join(''),
    )
  }
  process.exit(0)
}
