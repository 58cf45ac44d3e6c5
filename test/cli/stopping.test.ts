/** Stopping the processes of start and graphql:ws by signals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabaseUrl } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startProcess } from '../support/process.ts'
import { openSocket } from '../support/sockets.ts'

/** A second signal within half a second counts as the same one. */
const nextSignalMs = 600
/** Longer than a test may take: a stop that waited for it would fail. */
const forEver = '3600'

for (const command of ['start', 'graphql:ws']) {
  test(`${command} serves on while it drains; a second SIGTERM ends the drain`, async (t) => {
    const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), DRAIN_SECONDS: forEver }
    const { url, wsUrl, child, ended } = await startProcess(t, { command, env })
    const bases = [wsUrl.replace('ws', 'http'), ...(url === '' ? [] : [url])]
    const ready = () => Promise.all(bases.map(async (base) => (await fetch(`${base}/health/ready`)).status))
    assert.ok((await ready()).every((status) => status === 200))
    child.kill('SIGTERM')
    await eventually(async () => assert.ok((await ready()).every((status) => status === 503)))
    const socket = await openSocket(t, wsUrl)
    socket.send({ query: '{ posts { id } }' })
    assert.deepEqual(await socket.next(), { data: { posts: [] } })
    await sleep(nextSignalMs)
    child.kill('SIGTERM')
    assert.deepEqual(await socket.closed, { code: 1001, reason: 'Going away' })
    const { code, stdout, stderr } = await ended
    assert.equal(code, 0, stderr)
    assert.match(stdout, /"msg":"stopping without further waiting"/)
    assert.match(stdout, /"msg":"stopped"/)
  })
}

test('a drain ends by itself', async (t) => {
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), DRAIN_SECONDS: '1' }
  const { child, ended } = await startProcess(t, { env })
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('SIGINT in development stops without a drain', async (t) => {
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), DRAIN_SECONDS: forEver }
  const { child, ended } = await startProcess(t, { env })
  child.kill('SIGINT')
  assert.equal((await ended).code, 0)
})
