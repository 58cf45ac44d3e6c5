import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from './databases.ts'
import { eventually } from './eventually.ts'
import { removeLeftovers } from './leftovers.ts'
import { collect, environment } from './process.ts'
import { isRunning } from './process-tree.ts'
import { isFull } from './tiers.ts'

const idle = 'setInterval(() => {}, 1000)'
const listening = `require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

test('a run is told which processes, ports and files it has left, and of nobody else', async (t) => {
  const folder = temporaryFolder(t)
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  writeFileSync(join(temporary, 'forgotten'), '')
  const start = (script: string, { cwd = '/', env = {} } = {}) => {
    const child = spawn(process.execPath, ['-e', script], { cwd, env: { PATH: process.env.PATH, ...env } })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  const marked = start(listening, { env: { TMPDIR: temporary } })
  const inside = start(idle, { cwd: temporary })
  const named = start(`${idle} // ${temporary}`)
  const server = start(idle, { cwd: folder })
  const stranger = start(idle)
  const port = Number(await new Promise((resolve) => marked.stdout.once('data', resolve)))

  const run = { folder, temporary, sessions: [4_000_000_000], expected: new Set([server.pid as number]) }
  const lines = await removeLeftovers(run, 0)
  const linesOf = (pid: number | undefined) => lines.filter((line) => line.startsWith(`process ${pid} (`))
  for (const { pid } of [marked, inside, named]) assert.equal(linesOf(pid).length, 1, lines.join('\n'))
  assert.match(linesOf(marked.pid)[0] ?? '', new RegExp(`, which listens on ${port}$`))
  assert.ok(lines.includes('the file or folder forgotten'))
  assert.equal(lines.length, 4, lines.join('\n'))
  for (const { pid } of [marked, inside, named]) await eventually(() => assert.ok(!isRunning(pid as number)))
  for (const { pid } of [server, stranger]) assert.ok(isRunning(pid as number))
})

test('what ends by itself in time is not left', async (t) => {
  const folder = temporaryFolder(t)
  const child = spawn('sleep', ['1'], { cwd: folder })
  const run = { folder, temporary: join(folder, 'none'), sessions: [child.pid as number], expected: new Set<number>() }
  assert.deepEqual(await removeLeftovers(run), [])
})

if (isFull) {
  test('a run whose tests leave something fails and names it, although they pass', async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'leaky.test.ts')
    writeFileSync(
      file,
      `import { spawn } from 'node:child_process'
     import { mkdtempSync } from 'node:fs'
     import { tmpdir } from 'node:os'
     import { join } from 'node:path'
     import { test } from 'node:test'
     test('leaks', () => {
       mkdtempSync(join(tmpdir(), 'forgotten-'))
       spawn(process.execPath, ['-e', ${JSON.stringify(idle)}], { detached: true, stdio: 'ignore' }).unref()
     })`,
    )
    const main = join(root, 'test', 'support', 'run.ts')
    const { code, stdout, stderr } = await collect(
      spawn(process.execPath, [main, '--fast', file], { env: environment({ TEST_GRACE_MS: '1000' }) }),
    )
    assert.match(stdout, /pass 1\b/, stdout + stderr)
    assert.equal(code, 1)
    assert.match(stderr, /the tests have left process \d+ \(\S*node -e /)
    assert.match(stderr, /the tests have left the file or folder forgotten-/)
    const [, pid] = /left process (\d+)/.exec(stderr) ?? []
    await eventually(() => assert.ok(!isRunning(Number(pid))))
  })
}
