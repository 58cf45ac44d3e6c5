/**
 * `npm test`: format, lint and types, then every claim once, with the servers it needs. `npm run test:full`: also
 * what takes minutes (test/full, test/programs), everything on both engines and with two threads; see tiers.ts.
 * `npm run test:fast`: only test/api and the units, on SQLite with one thread.
 * Arguments are test files, folders, or a part of their names: `npm run test:fast -- products`. With `--bundled` they test
 * the bundle instead of the sources, as `npm run test:full` does with all of test/api at its end.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { root } from '../../src/config/root.ts'
import { cpuSecondsOf, describeTimes, installationName, recordDaemons, recordTime } from './cpu-times.ts'
import { groupFiles } from './groups.ts'
import { removeLeftovers } from './leftovers.ts'
import { createRunFolder, daemonsIn, findPlace } from './run-folder.ts'
import { filesOf, isIn, type Tier, testFiles } from './tiers.ts'

const wrongUsage = 64
/** Of processor time, for all of `npm test`: nearly half as much again as it takes on quiet cores, for machines that are shared. */
const mostSeconds = 900
/** Folders of test/ whose tests start bin/latchkey. */
const startsProgram = ['cli', 'crash', 'docs', 'full', 'load', 'programs']
const args = process.argv.slice(2)
const tier: Tier = args.includes('--fast') ? 'fast' : args.includes('--full') ? 'full' : 'normal'
const isBundled = args.includes('--bundled')
const asked = args.filter((arg) => !arg.startsWith('--'))
// test/run has become this process.
const installation = cpuSecondsOf(process.pid)

if (tier !== 'fast' && asked.length === 0) {
  const program = (name: string) => join(root, 'node_modules', '.bin', name)
  const codes = await Promise.all([
    run(program('biome'), ['ci', '--error-on-warnings', '.'], {}),
    // Beside the other, a second thread checks much of the same again; collecting garbage takes a third of the time.
    run(program('tsc'), ['--noEmit', '--checkers', '1'], { GOGC: '400' }),
  ])
  const failed = codes.find(({ code }) => code !== 0)
  if (failed) process.exit(failed.code)
}

const found = inOrder(asked.length > 0 ? asked.flatMap(findFiles) : filesOf(tier))
// Each is loaded only if it is needed: a run of one file should begin at once.
if (found.some((file) => isIn('browser', file))) (await import('./chromium.ts')).installChromium()
if (found.some((file) => isIn('programs', file))) (await import('./programs.ts')).installTestPrograms()
// Whoever starts the service would otherwise wait for its bundle, and read of it.
if (found.some((file) => startsProgram.some((name) => isIn(name, file))))
  spawnSync(process.execPath, [join(root, 'bin', 'run.mjs'), 'bundle'], { stdio: 'inherit' })
const folder = createRunFolder(findPlace())
recordTime(folder.path, installationName, installation)
recordTime(folder.path, '(checks)', cpuSecondsOf(process.pid) - installation)
const servers =
  tier === 'fast' ? undefined : await (await import('./servers.ts')).startServers(folder.path, readGiven())
const expected = new Set([folder.watchdog, ...daemonsIn(folder.path)])
const templates = await (await import('./templates.ts')).createTemplates(folder.path, servers?.databaseUrl)
const runs = isBundled ? [] : [await testSources()]
if (isBundled || (isAll('full') && !runs[0]?.isInterrupted)) runs.push(await testBundle())
await templates.remove()
const sessions = runs.map(({ pid }) => pid)
const leftovers = await removeLeftovers({ ...folder, folder: folder.path, sessions, expected })
recordDaemons(folder.path)
const { table, total } = describeTimes(folder.path)
process.stdout.write(`\nProcessor time in seconds, by file\n${table}`)
await folder.remove()
leftovers.push(...(await removeLeftovers({ ...folder, folder: folder.path, sessions, expected: new Set() })))
for (const line of leftovers) process.stderr.write(`the tests have left ${line}\n`)
const isTooSlow = isAll('normal') && !isBundled && total > mostSeconds
if (isTooSlow) process.stderr.write(`npm test may take ${mostSeconds} s of processor time: see the table above\n`)
process.exit(leftovers.length > 0 || isTooSlow || runs.some(({ code }) => code !== 0) ? 1 : 0)

function isAll(of: Tier): boolean {
  return tier === of && asked.length === 0
}

function testSources(): Promise<Ended> {
  return test(groupFiles({ folder: folder.path, files: found, isFull: tier === 'full' }), tier)
}

/** Which works as the sources do, on whichever engine and with however many threads: so once is enough. */
async function testBundle(): Promise<Ended> {
  const files = asked.length > 0 ? found : found.filter((file) => isIn('api', file))
  const { makeBundle } = await import('./bundled.ts')
  const groups = groupFiles({ folder: join(folder.path, 'bundled'), files, isFull: false })
  return test(groups, 'normal', [`--preload=${makeBundle(folder.path, files)}`])
}

function test(groups: readonly string[], tier: Tier, rest: readonly string[] = []): Promise<Ended> {
  // Two more than cores, because some wait. The longest group takes minutes; the limit is only against hangs.
  const limits = [`--concurrency=${Math.min(availableParallelism() + 2, 6)}`, '--timeout=3600000']
  const program = join(root, 'test', 'support', 'run-files.ts')
  return run(process.execPath, [program, ...limits, ...rest, ...groups], {
    TMPDIR: folder.temporary,
    TEST_RUN_FOLDER: folder.path,
    TEST_TIER: tier,
    ...templates.environment,
    ...(servers
      ? { TEST_DATABASE_URL: servers.databaseUrl, TEST_REDIS_URL: servers.redisUrl }
      : { TEST_ONLY_SQLITE: '1' }),
  })
}

function findFiles(name: string): string[] {
  const path = resolve(root, name)
  if (path.endsWith('.ts') && existsSync(path)) return [relative(root, path)]
  const matching = existsSync(path)
    ? globSync(join(relative(root, path), '**/*.test.ts'), { cwd: root })
    : globSync([...testFiles, name], { cwd: root }).filter((file) => file.includes(name.replace(/\*.*/, '')))
  if (matching.length > 0) return matching
  process.stderr.write(`there is no test file, folder or part of a name "${name}"\n`)
  process.exit(wrongUsage)
}

/** Long groups first, so that short ones keep all cores busy at the end. */
function inOrder(paths: string[]): string[] {
  const folders = ['browser', 'load', 'api', 'programs', 'cli', 'crash', 'contract', 'support']
  const named = folders.map((folder) => paths.filter((file) => isIn(folder, file)).sort())
  return [...new Set([...named.flat(), ...paths])]
}

function readGiven() {
  return { databaseUrl: process.env.TEST_DATABASE_URL, redisUrl: process.env.TEST_REDIS_URL }
}

interface Ended {
  pid: number
  code: number
  isInterrupted: boolean
}

/** In a session of its own, to which it forwards signals. */
function run(command: string, rest: string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = { cwd: root, stdio: 'inherit', detached: true, env: { ...process.env, ...env } } as const
    const child = spawn(command, rest, options)
    const pid = child.pid as number
    let isInterrupted = false
    const end = () => {
      isInterrupted = true
      process.kill(-pid, 'SIGTERM')
    }
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
    for (const signal of signals) process.once(signal, end)
    child.once('error', reject)
    child.once('exit', (code) => {
      for (const signal of signals) process.off(signal, end)
      resolve({ pid, code: code ?? 1, isInterrupted })
    })
  })
}
