/** nginx and HAProxy with the configurations in deploy/: what they do with requests whose node dies. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/databases.ts'
import { type BalancerName, startBalancer } from '../support/load-balancer.ts'
import { registerProcess } from '../support/run-folder.ts'

interface Sent {
  method?: string
  path: string
  key?: string
}

const longKey = 'sixteen-letters-'

async function listen(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/**
 * Two nodes behind the balancer: the one that gets the request first dies with it, the other returns its body. Each request
 * has a balancer of its own, because nginx leaves out a node that has failed three times in a second.
 */
async function send(t: TestContext, name: BalancerName, { method = 'POST', path, key }: Sent) {
  const arrivals: string[] = []
  const listener: RequestListener = async (request, response) => {
    if (request.url === '/health/ready') return void response.end()
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    arrivals.push(`${request.method} ${request.url} ${request.headers['x-request-id'] ?? ''}`)
    if (arrivals.length === 1) request.socket.destroy()
    else response.end(body)
  }
  const ports = [await listen(t, listener), await listen(t, listener)]
  const folder = temporaryFolder(t)
  const { url, pid } = await startBalancer(name, { ports, folder, logs: folder })
  const forget = registerProcess(process.env.TEST_RUN_FOLDER ?? folder, pid)
  t.after(() => {
    // Not SIGKILL: nginx would leave its worker behind.
    process.kill(pid, 'SIGTERM')
    forget()
  })
  const body = method === 'GET' ? null : JSON.stringify({ name: 'Desk lamp', path })
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) }
  const response = await fetch(url + path, { method, headers, body })
  return { status: response.status, text: await response.text(), body: body ?? '', arrivals }
}

for (const name of ['nginx', 'haproxy'] as const) {
  test(`${name} gives the other node what has the same effect once or twice`, async (t) => {
    for (const sent of [
      { path: '/api/v2/products', key: 'k' },
      { path: '/api/v2/products/', key: longKey },
      { path: '/api/auth/refresh', key: longKey },
      { path: '/api/auth/login' },
      { path: '/api/v2/products/1?fields=name', method: 'GET' },
    ]) {
      const { status, text, body, arrivals } = await send(t, name, sent)
      assert.equal(status, 200, sent.path)
      assert.equal(text, body, sent.path)
      assert.equal(arrivals.length, 2, sent.path)
      assert.equal(arrivals[1], arrivals[0], 'the same request, with the same id')
    }
  })

  test(`${name} answers 502 for a write that may have been done, and sends it to no other node`, async (t) => {
    for (const sent of [
      { path: '/api/v2/products' },
      { path: '/api/v2/products', key: '' },
      { path: '/api/auth/refresh' },
      // Too short to be honoured: the repetition would be taken for a stolen token.
      { path: '/api/auth/refresh', key: longKey.slice(1) },
      // The key has no meaning here.
      { path: '/api/posts', key: longKey },
      { path: '/api/auth/register', key: longKey },
      { path: '/api/auth/2fa/verify', key: longKey },
      { path: '/graphql', key: longKey },
    ]) {
      const { status, arrivals } = await send(t, name, sent)
      assert.equal(status, 502, sent.path)
      assert.equal(arrivals.length, 1, sent.path)
    }
  })
}
