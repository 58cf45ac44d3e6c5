/** Processes beside a service on the same SQLite file. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { linkSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createDatabaseUrl, engines, testServer } from '../support/databases.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { startProcess } from '../support/process.ts'
import { testInFull } from '../support/test-in-full.ts'

const refusal =
  /^latchkey: the database file .*test\.db is served by another Latchkey process: two would share neither subscriptions nor rate limits\. Stop that one first, or use PostgreSQL for several\n$/

test('a second service on a SQLite file is refused, commands are not, and kill -9 leaves the file free', async (t) => {
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite') }
  const first = await startProcess(t, { env })
  for (const command of ['start', 'graphql:ws']) {
    const { code, stderr } = await runLoaded([command], { env })
    assert.equal(code, 69, stderr)
    assert.match(stderr, refusal)
  }
  for (const args of [['migrate'], ['user:create', '--email', 'ada@example.com'], ['user:list']]) {
    const { code, stderr } = await runLoaded(args, { env, input: 'Correct-Horse-1\n' })
    assert.equal(code, 0, stderr)
  }
  assert.equal((await fetch(`${first.url}/health/ready`)).status, 200)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')

  const sockets = await startProcess(t, { command: 'graphql:ws', env })
  assert.match((await runLoaded(['start'], { env })).stderr, refusal)
  sockets.child.kill('SIGTERM')
  assert.equal((await sockets.ended).code, 0)
  await startProcess(t, { env })
})

test('a second name of the file, by a hard link, is refused to every command, and the service loses nothing', async (t) => {
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite') }
  const file = env.DATABASE_URL.slice('file:'.length)
  const folder = dirname(file)
  const archive = join(folder, 'before.archive')
  assert.equal((await runLoaded(['backup', archive], { env: await migrated(env) })).code, 0)
  const service = await startProcess(t, { env })
  const other = join(folder, 'hard.db')
  linkSync(file, other)
  const before = readdirSync(folder).sort()
  const hasTwoNames =
    /^latchkey: cannot open the database file \S+\.db: it has 2 names \(hard links\), and SQLite keeps a separate -wal for each, so that two processes would destroy it\. Remove the other name \(find it: .*\), or make it a symbolic link\n$/
  const elsewhere = `file:${join(folder, 'new.db')}`
  const commands: [args: string[], url?: string][] = [
    [['start']],
    [['graphql:ws']],
    [['migrate']],
    [['user:create', '--email', 'ada@example.com']],
    [['user:list']],
    [['backup', join(folder, 'after.archive')]],
    [['restore', '--replace', archive]],
    [['move', '--to', elsewhere]],
    [['move', '--while-running', '--to', `file:${other}`], elsewhere],
  ]
  for (const [args, url = `file:${other}`] of commands) {
    const { code, stderr } = await runLoaded(args, { env: { DATABASE_URL: url }, input: 'Correct-Horse-1\n' })
    assert.equal(code, 73, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, hasTwoNames)
  }
  assert.deepEqual(readdirSync(folder).sort(), before, 'nothing was made')
  assert.equal((await fetch(`${service.url}/health/ready`)).status, 200)
})

/** The variables, once their database has its tables. */
async function migrated<Variables extends Record<string, string>>(env: Variables): Promise<Variables> {
  assert.equal((await runLoaded(['migrate'], { env })).code, 0)
  return env
}

if (engines.includes('postgres')) {
  testInFull(
    'where Redis shares topics and limits, graphql:ws serves beside the service, but no second service does',
    async (t) => {
      const env = {
        DATABASE_URL: await createDatabaseUrl(t, 'sqlite'),
        REDIS_URL: testServer('TEST_REDIS_URL'),
        GQL_PUBSUB: 'redis',
      }
      const sockets = await startProcess(t, { command: 'graphql:ws', env })
      const service = await startProcess(t, { env })
      assert.match((await runLoaded(['start'], { env })).stderr, refusal)
      for (const address of [sockets.wsUrl.replace('ws:', 'http:'), service.url]) {
        assert.equal((await fetch(`${address}/health/live`)).status, 200)
      }
    },
  )
}
