/** Stopping the processes of start and graphql:ws by signals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabaseUrl } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startCollector } from '../support/otlp-collector.ts'
import { startProcess } from '../support/process.ts'
import { openSocket } from '../support/sockets.ts'
import { testInFull } from '../support/test-in-full.ts'
import { chosen } from '../support/tiers.ts'

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
    // Within half a second after the first, another counts as the same one.
    await eventually(() => {
      child.kill('SIGTERM')
      assert.notEqual(socket.ws.readyState, WebSocket.OPEN)
    })
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

testInFull('SIGINT in development stops without a drain', async (t) => {
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), DRAIN_SECONDS: forEver }
  const { child, ended } = await startProcess(t, { env })
  child.kill('SIGINT')
  assert.equal((await ended).code, 0)
})

for (const threads of chosen(['1', '2'], (count) => count === '1')) {
  for (const everyMs of chosen(['600000', '20'], (each) => each === '20')) {
    test(`the last metrics of a stop, exported every ${everyMs} ms by a service with ${threads} threads, say that all was well`, async (t) => {
      const collector = await startCollector(t)
      const env = {
        DATABASE_URL: await createDatabaseUrl(t, 'sqlite'),
        THREADS: threads,
        DRAIN_SECONDS: '1',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRIC_EXPORT_INTERVAL: everyMs,
      }
      const { url, child, ended } = await startProcess(t, { env })
      child.kill('SIGTERM')
      await eventually(async () => assert.equal((await fetch(`${url}/health/ready`)).status, 503))
      assert.equal((await fetch(`${url}/api/v2/products`)).status, 200)
      const { code, stdout } = await ended
      assert.equal(code, 0, stdout)
      assert.doesNotMatch(stdout, /"level":"(error|fatal)"|not ready/)
      const valuesOf = (name: string) =>
        collector.metrics.find((metric) => metric.name === name)?.gauge?.dataPoints.map(({ asDouble }) => asDouble)
      assert.deepEqual(valuesOf('service_ready'), [1])
      assert.deepEqual(valuesOf('dependency_up'), [1])
      assert.deepEqual(valuesOf('bus_up'), [1, 1])
      const requests = collector.metrics.find(({ name }) => name === 'http_request_duration_seconds')
      assert.match(JSON.stringify(requests), /products/, 'a request of the drain is counted')
    })
  }
}
