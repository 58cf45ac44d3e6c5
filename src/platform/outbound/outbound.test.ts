import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createOutbound, type OutboundOptions } from './outbound.ts'

const request = { headers: { 'content-type': 'application/json' }, body: '{"a":"ü"}', timeoutMs: 60_000 }
/** For tests in which it must run out. */
const short = { ...request, timeoutMs: 300 }

function open(t: TestContext, options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({ allowPrivate: true, ...options })
  t.after(() => outbound.close())
  return outbound
}

async function listen(t: TestContext, server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** A server that speaks HTTP. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createServer(listener))}`
}

/** A server that answers each connection as it likes, once something has come in. */
async function serveRaw(t: TestContext, answer: (socket: Socket) => void) {
  const closed = Promise.withResolvers<void>()
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
    socket.on('close', () => closed.resolve())
  })
  return { url: `http://127.0.0.1:${await listen(t, server)}/`, closed: closed.promise }
}

test('a request arrives as it was sent, with the name in its Host header, and its answer is returned', async (t) => {
  const requests: unknown[] = []
  const port = await listen(
    t,
    createServer(async (incoming, response) => {
      let body = ''
      for await (const chunk of incoming.setEncoding('utf8')) body += chunk
      requests.push({ method: incoming.method, url: incoming.url, headers: incoming.headers, body })
      response.end('thanks')
    }),
  )
  const outbound = open(t, { resolve: async () => ['127.0.0.1'] })
  const { durationMs, ...answer } = await outbound.post(
    `http://Hooks.example.com:${port}/a b/?c=d`.replace(' ', '%20'),
    {
      ...request,
      headers: { ...request.headers, 'webhook-id': 'msg_1', Host: 'evil.example' },
    },
  )
  assert.deepEqual(answer, { status: 200, body: 'thanks', address: '127.0.0.1' })
  assert.ok(durationMs >= 0)
  assert.deepEqual(requests, [
    {
      method: 'POST',
      url: '/a%20b/?c=d',
      headers: {
        host: `hooks.example.com:${port}`,
        'content-type': 'application/json',
        'content-length': '10',
        'webhook-id': 'msg_1',
        connection: 'close',
      },
      body: '{"a":"ü"}',
    },
  ])
})

test('every status is an answer, and redirects are not followed', async (t) => {
  let requests = 0
  const url = await serve(t, (incoming, response) => {
    requests += 1
    const status = Number(incoming.url?.slice(1))
    response.writeHead(status, { location: '/200' }).end(status === 204 ? '' : `status ${status}`)
  })
  const outbound = open(t)
  for (const status of [200, 201, 300, 301, 302, 303, 307, 308, 400, 410, 429, 500, 503, 599]) {
    const answer = await outbound.post(`${url}/${status}`, request)
    assert.equal(answer.status, status)
    assert.equal(answer.body, `status ${status}`)
  }
  assert.deepEqual((await outbound.post(`${url}/204`, request)).body, '')
  assert.equal(requests, 15)
})

/** What a hostile name server answers. */
const hostileAnswers: string[][] = [
  ['127.0.0.1'],
  ['10.0.0.1'],
  ['172.16.0.1'],
  ['192.168.0.1'],
  ['100.64.0.1'],
  ['169.254.169.254'],
  ['168.63.129.16'],
  ['100.100.100.200'],
  ['0.0.0.0'],
  ['192.0.0.192'],
  ['198.18.0.1'],
  ['224.0.0.1'],
  ['240.0.0.1'],
  ['255.255.255.255'],
  ['::'],
  ['::1'],
  ['::127.0.0.1'],
  ['::ffff:127.0.0.1'],
  ['::ffff:7f00:1'],
  ['::ffff:8.8.8.8'],
  ['64:ff9b::7f00:1'],
  ['64:ff9b:1::7f00:1'],
  ['2001::1'],
  ['2001:db8::1'],
  ['2002:7f00:1::'],
  ['3fff::1'],
  ['fc00::1'],
  ['fd00:ec2::254'],
  ['fe80::1'],
  ['fe80::1%lo'],
  ['fec0::1'],
  ['ff02::1'],
  ['8.8.8.8', '127.0.0.1'],
  ['127.0.0.1', '8.8.8.8'],
  ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::1'],
  ['2606:4700:4700::1111', '10.0.0.1'],
  ['0x7f.1'],
  ['2130706433'],
  ['127.1'],
  ['localhost'],
  [''],
]

test('a name that resolves to the inside is refused, also if it resolves to the outside as well', async (t) => {
  const connected = watchConnections(t)
  for (const addresses of hostileAnswers) {
    const outbound = open(t, { allowPrivate: false, resolve: async () => addresses })
    await assert.rejects(
      outbound.post('https://hooks.example.com/', request),
      {
        code: 'refused_address',
        message: 'The host name resolves to an address that is not public',
      },
      String(addresses),
    )
  }
  assert.deepEqual(connected, [])
})

test('metadata of a cloud is refused even if the inside is allowed', async (t) => {
  const connected = watchConnections(t)
  for (const address of ['169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254']) {
    const outbound = open(t, { resolve: async () => [address] })
    await assert.rejects(outbound.post('http://hooks.example.com/', request), { code: 'refused_address' }, address)
  }
  assert.deepEqual(connected, [])
})

test('a name server that changes its mind is asked once, and the connection goes to its first answer', async (t) => {
  const connected = watchConnections(t)
  let calls = 0
  const outbound = open(t, {
    allowPrivate: false,
    resolve: async () => {
      calls += 1
      return calls === 1 ? ['8.8.8.8'] : ['127.0.0.1']
    },
  })
  await assert.rejects(outbound.post('https://hooks.example.com/', request), { code: 'connection' })
  assert.equal(calls, 1)
  assert.deepEqual(connected, ['8.8.8.8'])
  await assert.rejects(outbound.post('https://hooks.example.com/', request), { code: 'refused_address' })
  assert.equal(calls, 2, 'each request asks again: nothing is kept that would skip the check')
})

/** Records the addresses that sockets are about to connect to; those on the internet are not let through. */
function watchConnections(t: TestContext): string[] {
  const connected: string[] = []
  const watch = (message: unknown) => {
    const { socket } = message as { socket: Socket }
    socket.on('lookup', (_error, address) => {
      connected.push(address)
      if (!address.startsWith('127.')) socket.destroy()
    })
  }
  subscribe('net.client.socket', watch)
  t.after(() => unsubscribe('net.client.socket', watch))
  return connected
}

test('each request resolves its name again and has a connection of its own', async (t) => {
  const seen: unknown[] = []
  const server = createServer((incoming, response) => {
    seen.push([incoming.socket.localAddress, incoming.headers.host?.split(':')[0]])
    response.end()
  })
  const port = await listen(t, server, '0.0.0.0')
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  const answers = [['127.0.0.1'], ['127.0.0.2']]
  const outbound = open(t, { resolve: async () => answers.shift() ?? [] })
  const url = `http://hooks.example.com:${port}/`
  assert.equal((await outbound.post(url, request)).address, '127.0.0.1')
  assert.equal((await outbound.post(url, request)).address, '127.0.0.2')
  assert.deepEqual(seen, [
    ['127.0.0.1', 'hooks.example.com'],
    ['127.0.0.2', 'hooks.example.com'],
  ])
  assert.equal(connections, 2)
})

test('the next address is tried if one does not accept connections', async (t) => {
  const port = await listen(
    t,
    createServer((_incoming, response) => response.end('here')),
    '127.0.0.2',
  )
  const outbound = open(t, { resolve: async () => ['127.0.0.1', '127.0.0.2'] })
  const { address, body } = await outbound.post(`http://hooks.example.com:${port}/`, request)
  assert.deepEqual({ address, body }, { address: '127.0.0.2', body: 'here' })
})

test('a name that cannot be resolved says so', async (t) => {
  const failing = async () => {
    throw new Error('getaddrinfo ENOTFOUND hooks.example.com 10.0.0.53')
  }
  for (const resolve of [failing, async () => []]) {
    const post = open(t, { resolve }).post('https://hooks.example.com/', request)
    await assert.rejects(post, { code: 'unresolved', message: 'The host name could not be resolved' })
  }
})

test('names of the system are resolved without help', async (t) => {
  const url = new URL(await serve(t, (_incoming, response) => response.end()))
  const { address } = await open(t).post(`http://localhost:${url.port}/`, request)
  assert.equal(address, '127.0.0.1')
})

test('the time limit holds for a name server, slow headers and a slow body alike', async (t) => {
  const timedOut = { code: 'timeout', message: 'There was no complete answer within 0.3 seconds' }
  const never = () => new Promise<string[]>(() => {})
  await assert.rejects(open(t, { resolve: never }).post('http://hooks.example.com/', short), timedOut)

  const silent = await serveRaw(t, () => {})
  const drip = (text: string) => (socket: Socket) => {
    socket.write(text)
    const timer = setInterval(() => socket.write('x'), 10)
    socket.on('close', () => clearInterval(timer))
  }
  const slowHeaders = await serveRaw(t, drip('HTTP/1.1 200 OK\r\nx-slow: '))
  const slowBody = await serveRaw(t, drip('HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n'))
  for (const { url, closed } of [silent, slowHeaders, slowBody]) {
    await assert.rejects(open(t).post(url, short), timedOut)
    await closed
  }
})

test('only the beginning of a long answer is read, then the connection is closed', async (t) => {
  let written = 0
  const { url, closed } = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const more = () => {
      written += 1000
      if (!socket.destroyed) socket.write('é'.repeat(500), () => setImmediate(more))
    }
    more()
  })
  const { status, body } = await open(t).post(url, request)
  assert.equal(status, 200)
  assert.equal(body, 'é'.repeat(1000))
  await closed
  assert.ok(written >= 65_536)
})

test('an answer is text for people: cut at 1,000 characters, without control characters, and not unpacked', async (t) => {
  const bodies: [Buffer, string][] = [
    [Buffer.from(`a\u0000b\u001b[31mc\r\nd\te\u0085`), 'a\uFFFDb\uFFFD[31mc\uFFFD\nd\te\uFFFD'],
    [Buffer.from(`${'a'.repeat(999)}😀`), `${'a'.repeat(999)}\uFFFD`],
    [Buffer.from([0x1f, 0x8b, 0x08, 0xff]), '\uFFFD\uFFFD\uFFFD\uFFFD'],
  ]
  let next = 0
  const url = await serve(t, (_incoming, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bodies[next]?.[0])
  })
  for (const [, expected] of bodies) {
    assert.equal((await open(t).post(url, request)).body, expected)
    next += 1
  }
})

test('broken answers are told apart from silence', async (t) => {
  const closedEarly = 'The connection was closed before the answer was complete'
  const cases: [answer: (socket: Socket) => void, message: string][] = [
    [(socket) => socket.resetAndDestroy(), closedEarly],
    [(socket) => socket.end(), closedEarly],
    [(socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'), closedEarly],
    [
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello'),
      closedEarly,
    ],
    [(socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)), closedEarly],
    [(socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'), 'The answer is not valid HTTP'],
    [
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'),
      'The answer is not valid HTTP',
    ],
    [
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}`),
      'The headers of the answer are too large',
    ],
  ]
  for (const [answer, message] of cases) {
    const { url, closed } = await serveRaw(t, answer)
    await assert.rejects(open(t).post(url, request), { code: 'connection', message }, message)
    await closed
  }
})

test('a few interim answers are passed over', async (t) => {
  const hints = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
  const { url } = await serveRaw(t, (socket) => socket.end(`${hints}HTTP/1.1 202 Accepted\r\n\r\nok`))
  const { status, body } = await open(t).post(url, request)
  assert.deepEqual({ status, body }, { status: 202, body: 'ok' })
})

test('a closed port says so', async (t) => {
  const server = createTcpServer()
  const port = await listen(t, server)
  await new Promise((resolve) => server.close(resolve))
  const refused = { code: 'connection', message: 'The connection was refused' }
  await assert.rejects(open(t).post(`http://127.0.0.1:${port}/`, request), refused)
  const twice = open(t, { resolve: async () => ['127.0.0.1', '127.0.0.2'] })
  await assert.rejects(twice.post(`http://hooks.example.com:${port}/`, request), refused)
})

test('a request that is given up ends at once, wherever it is', async (t) => {
  const aborted = { code: 'aborted', message: 'The request was given up' }
  const early = { ...request, signal: AbortSignal.abort() }
  await assert.rejects(open(t).post('http://127.0.0.1:1/', early), aborted)

  const resolving = new AbortController()
  const resolve = () => {
    resolving.abort()
    return new Promise<string[]>(() => {})
  }
  const withSignal = { ...request, signal: resolving.signal }
  await assert.rejects(open(t, { resolve }).post('http://hooks.example.com/', withSignal), aborted)

  for (const beginning of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab']) {
    const controller = new AbortController()
    const { url, closed } = await serveRaw(t, (socket) => socket.write(beginning, () => controller.abort()))
    await assert.rejects(open(t).post(url, { ...request, signal: controller.signal }), aborted)
    await closed
  }
})

test('closing ends what is under way, and nothing is sent afterwards', async (t) => {
  const aborted = { code: 'aborted' }
  const outbound = open(t)
  const { url, closed } = await serveRaw(t, () => outbound.close())
  await assert.rejects(outbound.post(url, request), aborted)
  await closed
  await assert.rejects(outbound.post(url, request), aborted)
})

test('name servers are asked one at a time, and not for requests that were given up meanwhile', async (t) => {
  const url = new URL(await serve(t, (_incoming, response) => response.end()))
  const waiting: ((addresses: string[]) => void)[] = []
  const asked: string[] = []
  const resolve = (host: string) => {
    asked.push(host)
    return new Promise<string[]>((answer) => waiting.push(answer))
  }
  const outbound = open(t, { resolve })
  const controller = new AbortController()
  const first = outbound.post(`http://a.example:${url.port}/`, request)
  const second = outbound.post(`http://b.example:${url.port}/`, { ...request, signal: controller.signal })
  const third = outbound.post(`http://c.example:${url.port}/`, request)
  controller.abort()
  await assert.rejects(second, { code: 'aborted' })
  assert.deepEqual(asked, ['a.example'])
  waiting.shift()?.(['127.0.0.1'])
  assert.equal((await first).status, 200)
  assert.deepEqual(asked, ['a.example', 'c.example'])
  waiting.shift()?.(['127.0.0.1'])
  assert.equal((await third).status, 200)
})

test('a name whose servers do not answer holds up no other', async (t) => {
  const url = new URL(await serve(t, (_incoming, response) => response.end()))
  const looked: string[] = []
  const probed: string[] = []
  const silence = Promise.withResolvers<boolean>()
  const outbound = open(t, {
    resolve: async (host) => {
      looked.push(host)
      return ['127.0.0.1']
    },
    async isServed(host) {
      probed.push(host)
      return host === 'dead.example' ? silence.promise : true
    },
  })
  const post = (host: string) => outbound.post(`http://${host}:${url.port}/`, request)
  const dead = Array.from({ length: 50 }, () => post('dead.example'))
  assert.equal((await post('quick.example')).status, 200)
  assert.equal((await post('quick.example')).status, 200)
  silence.resolve(false)
  await Promise.all(dead.map((each) => assert.rejects(each, { code: 'unresolved' })))
  assert.deepEqual(looked, ['quick.example', 'quick.example'])
  // A name that was just looked up is not probed again.
  assert.equal(probed.filter((host) => host === 'quick.example').length, 1)
})
