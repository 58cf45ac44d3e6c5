/** The command line: help, clear errors, exit codes, no stack traces. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { becomeNobody } from '../support/other-user.ts'
import { type Ended, latchkey, startProcess } from '../support/process.ts'
import { freePort } from '../support/servers.ts'
import { testInFull } from '../support/test-in-full.ts'
import { chosen, isFull } from '../support/tiers.ts'

const secret = 'a secret that only the tests know and use'

/** Each problem is one line, and none of them is a stack trace. */
function assertRefused(ended: Ended, code: number, ...lines: RegExp[]): void {
  assert.equal(ended.code, code, ended.stderr)
  const shown = ended.stderr.trimEnd().split('\n')
  assert.equal(shown.length, lines.length, ended.stderr)
  for (const [i, line] of lines.entries()) assert.match(shown[i] ?? '', line)
  assert.doesNotMatch(ended.stderr + ended.stdout, /\n\s+at /)
}

function sqlite(t: TestContext): Record<string, string> {
  const DATABASE_URL = `file:${join(temporaryFolder(t), 'test.db')}`
  return { DATABASE_URL, PORT: '0', HOST: '127.0.0.1', GQL_WS_PORT: '0', THREADS: isFull ? '2' : '1' }
}

test('--version and --help work, and every command has --help', async () => {
  assert.match((await latchkey(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  const help = await latchkey(['--help'])
  assert.equal(help.code, 0)
  const commands = [...help.stdout.matchAll(/^ {2}([a-z][a-z:]*) /gm)].map(([, name]) => name as string)
  assert.ok(commands.includes('start') && commands.includes('migrate'))
  for (const command of commands.filter((name) => name !== 'help')) {
    const { code, stdout } = await runLoaded([command, '--help'])
    assert.equal(code, 0)
    assert.match(stdout, /Usage: latchkey/)
  }
})

test('it runs from any folder and through a link', async (t) => {
  const folder = temporaryFolder(t)
  symlinkSync(join(root, 'bin', 'latchkey'), join(folder, 'lk'))
  const { stdout, status } = spawnSync(join(folder, 'lk'), ['--version'], { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

test('an unknown command or option is refused as a usage error', async () => {
  const command = await latchkey(['strat'])
  assert.equal(command.code, 64)
  assert.match(command.stderr, /unknown command 'strat'/)
  const option = await runLoaded(['migrate', '--fast'])
  assert.equal(option.code, 64)
  assert.match(option.stderr, /unknown option '--fast'/)
})

test('a malformed configuration file: file, line and column, exit code 78', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'server.mlc'), 'server {\n  port = \n}\n')
  assertRefused(await latchkey(['--config', folder, 'start']), 78, /server\.mlc:2:10: expected a value/)
})

test('an unknown key: the closest one is suggested, and all problems are reported at once', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'server.mlc'), 'server {\n  prt = 1\n}\n')
  assertRefused(
    await runLoaded(['--config', folder], { env: { JWT_SECRET: 'short' } }),
    78,
    /server\.mlc:2:3: unknown key "server\.prt"; did you mean "server\.port"\?$/,
    /^latchkey: JWT_SECRET must be at least 32 bytes long$/,
  )
})

test('production without a secret is refused', async (t) => {
  const ended = await runLoaded(['start'], { env: { ...sqlite(t), NODE_ENV: 'production' } })
  assertRefused(ended, 78, /^latchkey: JWT_SECRET is required when NODE_ENV is production/)
})

test('the database path is not writable: one line', async (t) => {
  const file = join(temporaryFolder(t), 'plain-file')
  writeFileSync(file, '')
  const inside = await runLoaded(['start'], { env: { DATABASE_URL: `file:${file}/x/test.db` } })
  assertRefused(inside, 73, /^latchkey: cannot open the database file .*plain-file\/x\/test\.db: /)
  const folder = await runLoaded(['start'], { env: { DATABASE_URL: `file:${temporaryFolder(t)}` } })
  assertRefused(folder, 73, /^latchkey: cannot open the database file /)
})

test('the file is not a database: one line', async (t) => {
  const file = join(temporaryFolder(t), 'letter.txt')
  writeFileSync(file, 'Dear Sir or Madam, this is not a database at all.\n'.repeat(50), { mode: 0o644 })
  assertRefused(
    await runLoaded(['start'], { env: { DATABASE_URL: `file:${file}` } }),
    65,
    /letter\.txt: file is not a database\. Correct DATABASE_URL if it names the wrong file; .* restore the last backup \(docs\/backup\.md\)$/,
  )
  assert.equal(statSync(file).mode & 0o777, 0o644, 'and the file is left as it was')
})

test('a database file, or its folder, that the user must not write: one line that says so', async (t) => {
  const env = sqlite(t)
  const file = (env.DATABASE_URL ?? '').slice('file:'.length)
  const folder = dirname(file)
  // As root nothing is unwritable, so root starts it as nobody.
  const { user, program } = becomeNobody(t)
  // A copy has no bundle.
  if (program !== root) env.LATCHKEY_BUNDLE = 'off'
  writeFileSync(file, '', { mode: 0o444 })
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const each of [folder, file]) chownSync(each, user.uid, user.gid)
  }
  const line =
    /^latchkey: cannot open the (database|lock) file .*: EACCES\. The user of the service must be able to write/
  assertRefused(await latchkey(['start'], { env, user, program }), 73, line)
  chmodSync(file, 0o644)
  chmodSync(folder, 0o555)
  assertRefused(await latchkey(['start'], { env, user, program }), 73, line)
  chmodSync(folder, 0o755)
})

testInFull('a damaged page that a command needs: one line that says what to do', async (t) => {
  const env = sqlite(t)
  const file = (env.DATABASE_URL ?? '').slice('file:'.length)
  await runLoaded(['user:create', '--email', 'ada@example.com'], { env, input: 'Correct-Horse-1\n' })
  const text = readFileSync(file)
  for (let at = text.indexOf('ada@example.com'); at >= 0; at = text.indexOf('ada@example.com')) {
    const page = Math.floor(at / 4096) * 4096
    text.fill(0xff, page, page + 4096)
  }
  writeFileSync(file, text)
  for (const args of [['user:list'], ['backup', `${file}.archive`]]) {
    const ended = await runLoaded(args, { env })
    assertRefused(
      ended,
      65,
      /^latchkey: the database file .* is damaged: stop the service if it runs, .* restore the last backup/,
    )
    assert.doesNotMatch(ended.stderr, /503/, 'nothing is served by a command that has ended')
  }
})

const headers = [
  { what: 'its first bytes', at: 0, bytes: 21, text: /file is not a database\. .* restore the last backup/ },
  { what: 'the page size', at: 16, bytes: 2, text: /file is not a database\. .* restore the last backup/ },
  { what: 'the schema format', at: 44, bytes: 4, text: /is damaged: .* restore the last backup/ },
]
for (const { what, at, bytes, text } of headers) {
  test(`a damaged header of the file, ${what}: one line that says what to do, and no restart`, async (t) => {
    const env = sqlite(t)
    const file = (env.DATABASE_URL ?? '').slice('file:'.length)
    await runLoaded(['migrate'], { env })
    writeFileSync(file, readFileSync(file).fill(0xff, at, at + bytes))
    for (const args of [['start'], ['migrate'], ['user:list'], ['backup', `${file}.archive`]]) {
      assertRefused(await runLoaded(args, { env }), 65, text)
    }
  })
}

test('the port is in use: one line', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const ended = await runLoaded(['start'], { env: { ...sqlite(t), PORT: String(port), LOG_LEVEL: 'silent' } })
  assertRefused(ended, 69, new RegExp(`^latchkey: cannot listen on 127\\.0\\.0\\.1, port ${port}: the port is taken$`))
})

test('PostgreSQL is unreachable: one line, without the password', async () => {
  const url = `postgres://user:hush@127.0.0.1:${await freePort()}/x`
  const ended = await runLoaded(['start'], { env: { DATABASE_URL: url, JWT_SECRET: secret } })
  assertRefused(ended, 69, /^latchkey: cannot reach PostgreSQL at 127\.0\.0\.1:\d+\/x: .*ECONNREFUSED/)
  assert.doesNotMatch(ended.stderr, /hush/)
})

testInFull('Redis is unreachable: one line', async (t) => {
  const env = { ...sqlite(t), REDIS_URL: `redis://:hush@127.0.0.1:${await freePort()}`, LOG_LEVEL: 'silent' }
  const ended = await runLoaded(['start'], { env })
  assertRefused(ended, 69, /^latchkey: cannot reach Redis at 127\.0\.0\.1:\d+: .*ECONNREFUSED/)
  assert.doesNotMatch(ended.stderr, /hush/)
})

test('Redis accepts the connection but does not respond: one line', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const env = { ...sqlite(t), REDIS_URL: `redis://127.0.0.1:${port}`, LOG_LEVEL: 'silent' }
  assertRefused(
    await runLoaded(['start'], { env }),
    69,
    /^latchkey: cannot reach Redis at .*: no answer within 5000 ms$/,
  )
})

test('--debug shows where an error came from', async () => {
  const url = `postgres://127.0.0.1:${await freePort()}/x`
  const ended = await runLoaded(['--debug', 'migrate'], { env: { DATABASE_URL: url } })
  assert.equal(ended.code, 69)
  assert.match(ended.stderr, /\n\s+at /)
})

onAnyEngine('migrate', (engine) => {
  test('prints what it applied, and the second time that there is nothing to do', async (t) => {
    const env = { DATABASE_URL: await createDatabaseUrl(t, engine) }
    const first = await runLoaded(['migrate'], { env })
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^applied 0001-users\.sql$/m)
    const second = await runLoaded(['migrate'], { env })
    assert.equal(second.stdout, 'nothing to do: the schema is up to date\n')
  })

  test('processes that start at once on one database all come up', async (t) => {
    const env = { DATABASE_URL: await createDatabaseUrl(t, engine), JWT_SECRET: secret }
    const isShared = engine === 'postgres'
    const [command, ...nodes] = await Promise.all([
      latchkey(['migrate'], { env }),
      startProcess(t, { env }),
      ...(isShared ? [startProcess(t, { env })] : []),
    ])
    assert.equal(command.code, 0, command.stderr)
    for (const { url } of nodes) assert.equal((await fetch(`${url}/health/ready`)).status, 200)
  })
})

for (const signal of chosen(['SIGTERM', 'SIGINT'] as const, (each) => each === 'SIGTERM')) {
  test(`${signal} ends the service with exit code 0, after the request in flight`, async (t) => {
    const { url, child, ended } = await startProcess(t, { env: sqlite(t) })
    assert.equal((await fetch(`${url}/health/ready`)).status, 200)
    child.kill(signal)
    const { code, stdout, stderr } = await ended
    assert.equal(code, 0, stderr)
    assert.match(stdout, /"msg":"stopped"/)
  })
}

test('an invalid port number is refused before anything is opened', async (t) => {
  const ended = await runLoaded(['start'], { env: { ...sqlite(t), PORT: '99999' } })
  assertRefused(ended, 78, /^latchkey: PORT must be an integer from 0 to 65535$/)
})
