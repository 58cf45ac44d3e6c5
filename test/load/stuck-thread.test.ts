/** A thread whose event loop stands still is noticed, relieved of new connections, explained in the log, and replaced. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../src/platform/database/open.ts'
import { type Api, type Owner, startApi } from '../support/api.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { send } from '../support/own-connection.ts'
import { startProcess } from '../support/process.ts'
import { openSocket } from '../support/sockets.ts'
import { testInFull } from '../support/test-in-full.ts'
import { isFull } from '../support/tiers.ts'

const probe = join(import.meta.dirname, '..', 'support', 'extensions', 'probe.ts')

async function start(t: Owner, engine: 'sqlite' | 'postgres', unresponsiveSeconds: number) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-'))
  const until = join(folder, 'released')
  const release = () => writeFileSync(until, '')
  // Before the service closes, which waits for its threads.
  t.after(release)
  const env = { LATCHKEY_EXTENSIONS: probe, UNRESPONSIVE_SECONDS: String(unresponsiveSeconds) }
  const api = await startApi(t, { engine, threads: 2, env })
  t.after(() => rmSync(folder, { recursive: true }))

  /**
   * One of the threads spins from now on, until it is replaced or released. Resolves to how the request ended. It takes the
   * processor from the others only in the full run: where other tests do so too, the thread that should answer is late as well.
   */
  async function spin(): Promise<{ ended: Promise<string> }> {
    const rests = unresponsiveSeconds === 0 || !isFull ? '&rests=1' : ''
    const ended = send(`${api.url}/probe/spin?until=${encodeURIComponent(until)}${rests}`).then(
      ({ status }) => String(status),
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    )
    await eventually(() => assert.ok(existsSync(`${until}-begun`)))
    return { ended }
  }
  return { ...api, until, spin, release }
}

const metrics = async (api: Api) => (await send(`${api.url}/metrics`)).body
const linesOf = (api: Api, text: string) =>
  api.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes(text))

onAnyEngine('a thread that spins', (engine) => {
  test('is replaced; every other request is answered meanwhile, and the log says what it was doing', async (t) => {
    const api = await start(t, engine, 2)
    const { ended } = await api.spin()
    let isStuck = true
    void ended.then(() => (isStuck = false))
    // The kernel gives about every other connection to the thread that spins, from the first moment on.
    const probes = []
    while (isStuck) {
      probes.push(send(`${api.url}/health/live`), send(`${api.url}/api/v2/products`))
      await sleep(100)
    }
    assert.equal(await ended, 'ECONNRESET', 'its connections are closed')
    assert.deepEqual(new Set((await Promise.all(probes)).map(({ status }) => status)), new Set([200]))
    const [line] = linesOf(api, 'does not respond; it is terminated')
    assert.match(line.requests.join(), /GET \/probe\/spin/)
    assert.match(line.stack.join(), /extensions\/probe\.ts:\d+/)
    await eventually(async () => {
      const page = await metrics(api)
      assert.match(page, /^thread_deaths_total\{cause="unresponsive"\} 1$/m)
      assert.equal(page.match(/^thread_unresponsive\{thread="worker-\d+"\} 0$/gm)?.length, 2)
    })
  })

  test('is marked in /metrics, which does not wait for it, and stays if threads are never replaced', async (t) => {
    const api = await start(t, engine, 0)
    const { ended } = await api.spin()
    await eventually(async () => {
      const page = await metrics(api)
      assert.match(page, /^thread_unresponsive\{thread="worker-\d+"\} 1$/m)
      assert.match(page, /^thread_unresponsive\{thread="worker-\d+"\} 0$/m)
      assert.match(page, /^thread_deaths_total\{cause="unresponsive"\} 0$/m)
    })
    await eventually(() => assert.ok(linesOf(api, 'does not respond')[0]), 300_000)
    assert.match(String(linesOf(api, 'does not respond')[0].stack), /probe\.ts/)
    for (let i = 0; i < 20; i++) assert.equal((await send(`${api.url}/health/live`)).status, 200)
    const sockets = Array.from({ length: 8 }, () => openSocket(t, `${api.wsUrl}/graphql`))
    for (const { ws } of await Promise.all(sockets)) ws.terminate()
    api.release()
    assert.equal(await ended, '200')
    await eventually(async () => {
      assert.equal((await metrics(api)).match(/^thread_unresponsive\{thread="worker-\d+"\} 0$/gm)?.length, 2)
      assert.equal(linesOf(api, 'the serving thread responds again').length, 1)
    })
    const threads = Array.from({ length: 40 }, () => send(`${api.url}/probe/thread`))
    assert.equal(new Set((await Promise.all(threads)).map(({ body }) => body)).size, 2, 'both serve again')
  })
})

testInFull(
  'connections that were handed to a thread which died before it took them are served by another one',
  async (t) => {
    const api = await start(t, 'sqlite', 0)
    const { ended } = await api.spin()
    await eventually(async () => assert.match(await metrics(api), /^thread_unresponsive\{thread="worker-\d+"\} 1$/m))
    const until = `${api.until}-other`
    const died = send(`${api.url}/probe/spin?rests=1&dies=1&until=${encodeURIComponent(until)}`).catch(() => {})
    await eventually(() => assert.ok(existsSync(`${until}-begun`)))
    const sent = Promise.allSettled(Array.from({ length: 20 }, () => send(`${api.url}/health/live`)))
    // The main thread, which is this one, accepts them and hands them on.
    for (let turns = 0; turns < 100; turns++) await nextTurn()
    writeFileSync(until, '')
    await died
    const outcomes = await sent
    const served = outcomes.filter((each) => each.status === 'fulfilled' && each.value.status === 200)
    assert.ok(served.length > 0, 'those that the kernel gave to the late thread')
    api.release()
    assert.equal(await ended, '200')
  },
)

testInFull('while every thread is stuck, connections are reset at once, and nothing of them is kept', async (t) => {
  const api = await start(t, 'sqlite', 0)
  const first = await api.spin()
  rmSync(`${api.until}-begun`)
  const second = await api.spin()
  await eventually(() => assert.equal(linesOf(api, 'does not respond').length, 2), 300_000)
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => send(`${api.url}/health/live`)))
  assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(['rejected']))
  await eventually(() => assert.ok(descriptors() <= before + 5, `${descriptors()} descriptors instead of ${before}`))
  api.release()
  assert.deepEqual([await first.ended, await second.ended], ['200', '200'])
})

testInFull('the successor of the first thread says that the node is there', async (t) => {
  const api = await start(t, 'postgres', 0)
  const { db } = await openDatabase(openOptions({ url: api.databaseUrl, migrations: ownMigrations }))
  t.after(() => db.close())
  const nodes = () => db.all('SELECT id FROM service_nodes')
  await eventually(async () => assert.equal((await nodes()).length, 1))
  const hasBoth = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(`${api.url}/probe/thread`)))
    assert.equal(new Set(answers.map(({ body }) => body)).size, 2)
  }
  const deaths = () => linesOf(api, 'a serving thread died')
  await db.write({ sql: 'DELETE FROM service_nodes' })
  // The kernel chooses which of them it is.
  while (deaths().every(({ thread }) => thread !== 0)) {
    const before = deaths().length
    await send(`${api.url}/probe/die`).catch(() => {})
    await eventually(() => assert.ok(deaths().length > before))
    await eventually(hasBoth)
  }
  await eventually(async () => assert.equal((await nodes()).length, 1))
})

test('a process with one thread logs what that does, and ends so that its supervisor starts it again', async (t) => {
  const service = await startProcess(t, {
    env: {
      DATABASE_URL: `file:${join(temporaryFolder(t), 'test.db')}`,
      LATCHKEY_EXTENSIONS: probe,
      UNRESPONSIVE_SECONDS: '1',
    },
  })
  const until = join(temporaryFolder(t), 'never')
  // It is watched soon after the start, by a thread.
  await eventually(() => assert.ok(threadNamesOf(service.child.pid as number).includes('watchdog')))
  const rests = isFull ? '' : '&rests=1'
  const request = send(`${service.url}/probe/spin?until=${encodeURIComponent(until)}${rests}`).catch(() => {})
  const { stdout } = await service.ended
  await request
  assert.equal(service.child.signalCode, 'SIGKILL')
  const lines = stdout.trim().split('\n')
  const line = JSON.parse(lines.find((each) => each.includes('the main thread does not respond, stopping')) ?? '{}')
  assert.equal(line.level, 'fatal')
  assert.match(line.requests.join(), /GET \/probe\/spin/)
  assert.match(line.stack.join(), /extensions\/probe\.ts/)
})

function threadNamesOf(pid: number): string[] {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/comm`, 'utf8').trim())
}
