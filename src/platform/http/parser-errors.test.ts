import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sendRaw } from '../../../test/support/raw-http.ts'
import { createLogger } from '../log/logger.ts'
import { createCorsHeaders } from './cors.ts'
import { createParserErrorHandler } from './parser-errors.ts'

test('a request that does not arrive in time is 408, with CORS headers once its headers have been received', async (t) => {
  const log: string[] = []
  // Node emits this error half a minute after a body has stalled; emitted here without the wait.
  const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  const server = createServer((request) => server.emit('clientError', timeout, request.socket))
  const handle = createParserErrorHandler({
    createRequestId: () => 'the-id',
    log: createLogger({ level: 'info', isTerminal: false, destination: { write: (line) => void log.push(line) } }),
    headersFor: createCorsHeaders(['*'], { 'cache-control': 'no-store' }),
  })
  server.on('clientError', handle as () => void)
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const stalled = 'POST /api/auth/login?x=1 HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{'
  const slowBody = await sendRaw(url, stalled)
  assert.deepEqual([slowBody.status, slowBody.body], [408, '{"error":"Request timeout"}'])
  assert.equal(slowBody.headers.get('access-control-allow-origin'), '*')
  assert.equal(slowBody.headers.get('x-request-id'), 'the-id')
  assert.equal(slowBody.headers.get('cache-control'), 'no-store')
  const line = JSON.parse(log[0] ?? '')
  assert.deepEqual([line.requestId, line.method, line.path, line.status], ['the-id', 'POST', '/api/auth/login', 408])

  server.on('connection', (socket) => server.emit('clientError', timeout, socket))
  const slowHead = await sendRaw(url, 'GET /api/x HTTP/1.1\r\nhost')
  assert.deepEqual([slowHead.status, slowHead.headers.get('x-request-id')], [408, 'the-id'])
})
