/** Limits per address on memory and event-loop time, across all its sockets and streams. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { objectType, query, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { openStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { clientFrame, openRaw } from '../support/raw-socket.ts'
import { openSocket, openTransport, shareSocketApi, startSocketApi, type TestSocket, wide } from '../support/sockets.ts'
import { serveStandaloneSockets } from '../support/standalone-sockets.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

const counter = 'subscription { counter { count } }'
/** A trusted proxy can set any client address. */
const asProxy = { TRUSTED_PROXIES: '127.0.0.1' }
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const [attacker, other] = [from('198.51.100.1'), from('198.51.100.2')]

/** The start of a longer message. */
const halfOf = (bytes: number) => clientFrame(Buffer.alloc(bytes, 'x'), { announced: bytes * 2 })

/** Called for each execution of `costly`, each of which takes a while. */
let onExecution = () => {}

const costly = [
  objectType<{ n: number }>({
    name: 'Costly',
    fields: {
      n: {
        type: 'Int',
        resolve({ n }) {
          const end = performance.now() + 0.1
          while (performance.now() < end);
          onExecution()
          return n
        },
      },
    },
  }),
  subscription({
    name: 'costly',
    type: 'Costly',
    args: { of: 'Int' },
    access: 'public',
    async *subscribe(_args, { values }) {
      yield* values('costly')
    },
  }),
]

/** What the query `slow` waits for. */
let resolveSlow = async () => 1

const text = 'y'.repeat(200_000)

const queries = [
  query({ name: 'long', type: 'String', access: 'public', resolve: () => 'x'.repeat(8_000_000) }),
  query({ name: 'asked', type: 'String', access: 'public', resolve: () => text }),
  query({ name: 'slow', type: 'Int', access: 'public', resolve: () => resolveSlow() }),
]

const unused = shareSocketApi({ elements: [...costly, ...wide, ...queries], env: asProxy })
const meagre = shareSocketApi({
  elements: wide,
  env: { ...asProxy, GQL_WS_MAX_BYTES_PER_ADDRESS: '500000', GQL_WS_MAX_SUBSCRIPTIONS_PER_ADDRESS: '4' },
})

testInFull(
  'unfinished messages of an address are limited by its budget; another address is not affected',
  async (t) => {
    const api = await startSocketApi(t, { env: { ...asProxy, GQL_WS_MAX_BYTES_PER_ADDRESS: '1000000' } })
    const { sockets } = api.parts
    const victim = await openRaw(t, api.wsUrl, other)
    const message = clientFrame(JSON.stringify({ query: '{ me { id } }', padding: 'x'.repeat(100_000) }))
    victim.socket.write(message.subarray(0, 90_000))
    const attackers = []
    for (let i = 0; i < 40; i++) {
      const { socket } = await openRaw(t, api.wsUrl, attacker)
      socket.write(halfOf(100_000))
      attackers.push(socket)
    }
    await eventually(() => assert.ok(sockets.counts().raw <= 1 + 10, `${sockets.counts().raw} are open`))
    assert.ok(api.log.some((line) => line.includes('its address holds too many bytes')))
    victim.socket.write(message.subarray(90_000))
    await eventually(() => assert.match(victim.received().toString(), /"me":null/))
    for (const socket of attackers) socket.destroy()
    await eventually(() => assert.equal(sockets.counts().raw, 1))
    const again = await openSocket(t, api.wsUrl, attacker)
    again.send({ query: '{ me { id } }', padding: 'x'.repeat(200_000) })
    assert.deepEqual(await again.next(), { data: { me: null } }, 'what was held is given back')
  },
)

test('above the limit the socket that holds most is disconnected, not the next one', async (t) => {
  const api = await meagre()
  const greedy = await openRaw(t, api.wsUrl)
  greedy.socket.write(clientFrame(Buffer.alloc(300_000), { announced: 320_000 }))
  const modest = await Promise.all(Array.from({ length: 5 }, () => openRaw(t, api.wsUrl)))
  for (const { socket } of modest) socket.write(halfOf(60_000))
  await greedy.closed
  assert.ok(api.log.some((line) => line.includes('its address holds too many bytes')))
  await eventually(() => assert.equal(api.parts.sockets.counts().raw, 5))
})

testInFull('single bytes, and pings between the frames of a message, count for what they take', async (t) => {
  const api = await startSocketApi(t, { env: { GQL_WS_MAX_BYTES_PER_ADDRESS: '300000' } })
  const { socket, closed } = await openRaw(t, api.wsUrl)
  socket.write(clientFrame('{', { isLast: false }))
  const ping = clientFrame(Buffer.alloc(125), { opcode: 9 })
  const round = Buffer.concat([clientFrame('x', { isLast: false, opcode: 0 }), ...Array<Buffer>(100).fill(ping)])
  socket.on('close', () => clearInterval(sending))
  const sending = setInterval(() => socket.write(round), 1)
  t.after(() => clearInterval(sending))
  await closed
  assert.ok(api.log.some((line) => line.includes('its address holds too many bytes')))
})

test('before a token messages are small, after it they may have 1 MiB', async (t) => {
  const api = await unused()
  const { access } = await signIn(api)
  const long = (length: number) => JSON.stringify({ query: '{ me { id } }', padding: 'x'.repeat(length) })
  const anonymous = await openSocket(t, api.wsUrl)
  anonymous.send(long(300_000))
  assert.deepEqual(await anonymous.next(), { data: { me: null } })
  anonymous.send(long(330_000))
  const refused = await anonymous.next().catch(() => anonymous.closed)
  assert.deepEqual(refused, { code: 1009, reason: 'Message too long' })
  const known = await openSocket(t, api.wsUrl, { token: access })
  // Sent immediately: it waits until the token has been checked.
  known.send(long(1_000_000))
  assert.ok((await known.next()).data.me)
  known.send(long(1_050_000))
  assert.equal((await known.closed).code, 1009)

  const transport = await openTransport(t, api.wsUrl, { authorization: `Bearer ${access}` })
  transport.send(`{"type":"ping","payload":${long(1_000_000)}}`)
  assert.equal((await transport.next()).type, 'pong')
  const stranger = await openTransport(t, api.wsUrl)
  stranger.send(`{"type":"ping","payload":${long(330_000)}}`)
  assert.equal((await stranger.closed).code, 1009)
})

test('a message that is too long is refused by its frame header, in one frame or in many', async (t) => {
  const api = await unused()
  const [one, many] = [await openRaw(t, api.wsUrl), await openRaw(t, api.wsUrl)]
  one.socket.write(clientFrame('x', { announced: 400_000 }))
  for (let i = 0; i < 7; i++) {
    many.socket.write(clientFrame(Buffer.alloc(60_000), { isLast: false, opcode: i === 0 ? 1 : 0 }))
  }
  for (const each of [one, many]) await eventually(() => assert.equal(each.closeCode(), 1009))
})

test('an unfinished message closes its socket with 4408; a slow one does not', async (t) => {
  const { url } = await serveStandaloneSockets(t, { messageWithinMs: 2000 })
  const ask = clientFrame(JSON.stringify({ query: '{ me { id } }' }))
  const unfinished: Record<string, Buffer> = {
    'one byte of a head': ask.subarray(0, 1),
    'a head without its mask': ask.subarray(0, 3),
    'half of a frame': ask.subarray(0, 20),
    'a frame that is not the last': clientFrame('{', { isLast: false }),
    'a whole message, then half of one': Buffer.concat([ask, ask.subarray(0, 20)]),
    'half of a ping': clientFrame(Buffer.alloc(100), { opcode: 9 }).subarray(0, 50),
  }
  const idle = await openRaw(t, url)
  const slow = await openRaw(t, url)
  slow.socket.write(ask.subarray(0, 10))
  await new Promise((resolve) => setImmediate(resolve))
  slow.socket.write(ask.subarray(10))
  await eventually(() => assert.match(slow.received().toString(), /"me":null/))
  const left = Object.entries(unfinished).map(async ([name, bytes]) => {
    const { socket, closeCode } = await openRaw(t, url)
    socket.write(bytes)
    await eventually(() => assert.equal(closeCode(), 4408, name))
  })
  await Promise.all(left)
  for (const each of [idle, slow]) assert.equal(each.closeCode(), undefined)
})

test('subscriptions of an address are counted over all of its sockets and streams', async (t) => {
  const api = await meagre()
  const [one, two] = [await openSocket(t, api.wsUrl, attacker), await openSocket(t, api.wsUrl, attacker)]
  for (const id of [1, 2]) one.send({ id, query: counter })
  two.send({ id: 3, query: counter })
  await api.subscribed(3)
  const stream = await openStream(t, api.url, counter, attacker)
  await api.subscribed(4)

  two.send({ id: 5, query: counter })
  const refused = await two.next()
  assert.equal(refused.id, 5)
  assert.equal(refused.errors[0].extensions.code, 'TOO_MANY_SUBSCRIPTIONS')
  const events = await openStream(t, api.url, counter, attacker)
  await events.ended
  assert.equal(codeOf(events.events[0]?.data), 'TOO_MANY_SUBSCRIPTIONS')
  const plain = await openStream(t, api.url, '{ me { id } }', attacker)
  await plain.ended
  assert.deepEqual(plain.events[0]?.data, { data: { me: null } }, 'queries are no subscriptions')

  const neighbour = await openSocket(t, api.wsUrl, other)
  neighbour.send({ id: 1, query: counter })
  await api.subscribed(5)
  stream.close()
  await api.subscribed(4)
  two.send({ id: 6, query: counter })
  await api.subscribed(5)
  one.ws.terminate()
  await api.subscribed(3)
  two.send({ id: 7, query: counter })
  two.send({ id: 8, query: counter })
  await api.subscribed(5)
})

const askCostly = (id: number, of: number) => ({
  id,
  query: 'subscription ($of: Int) { costly(of: $of) { n } }',
  variables: { of },
})

/** On ten sockets. */
const subscriptions = amount({ full: 1000, otherwise: 500 })

function subscribeToAll(sockets: readonly TestSocket[]): void {
  for (let i = 0; i < subscriptions; i++) sockets[i % sockets.length]?.send(askCostly(i, i))
}

let turn = 0

function countTurns(t: TestContext): void {
  const count = () => {
    turn += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  t.after(() => clearImmediate(timer))
}

test('a value for thousands of different subscriptions is delivered in slices, in order, without blocking others', async (t) => {
  const perTurn = new Map<number, number>()
  onExecution = () => void perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
  const api = await unused()
  const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(t, api.wsUrl)))
  subscribeToAll(sockets)
  await api.subscribed(subscriptions)
  assert.equal(api.parts.engine.counts().sources, subscriptions)
  countTurns(t)
  const arrived = () => sockets.reduce((sum, socket) => sum + socket.waiting(), 0)
  for (const n of [1, 2, 3]) await api.parts.topics.publish('costly', { n })
  assert.ok(arrived() < subscriptions, 'the publisher does not wait')
  assert.equal((await api.get('/health/live')).status, 200)
  assert.ok(arrived() < 3 * subscriptions, 'nor does anybody else')
  await eventually(() => assert.equal(arrived(), 3 * subscriptions), 60_000)
  const most = Math.max(...perTurn.values())
  assert.ok(most < subscriptions / 2, `${most} were executed in one turn of the event loop`)
  for (const socket of sockets) {
    const seen = new Map<number, number[]>()
    while (socket.waiting() > 0) {
      const { id, data } = await socket.next()
      seen.set(id, [...(seen.get(id) ?? []), data.costly.n])
    }
    for (const values of seen.values()) assert.deepEqual(values, [1, 2, 3])
  }
})

test('a client with one subscription is served before an address with thousands', async (t) => {
  let executed = 0
  onExecution = () => {
    executed += 1
  }
  const api = await unused()
  const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(t, api.wsUrl, attacker)))
  subscribeToAll(sockets)
  await api.subscribed(subscriptions)
  const victim = await openSocket(t, api.wsUrl, other)
  // The same subscription that a misbehaving address has opened first.
  for (const id of [0, 5000]) victim.send(askCostly(id, id))
  await api.subscribed(subscriptions + 2)
  await api.parts.topics.publish('costly', { n: 1 })
  for (let i = 0; i < 2; i++) assert.equal((await victim.next()).data.costly.n, 1)
  assert.ok(executed < 0.9 * subscriptions, `${executed} were executed before it`)
})

test('unread data is counted per address, across sockets and streams', async (t) => {
  const api = await meagre()
  const logged = api.log.length
  const wanted = 'subscription { wide { text } }'
  const keen = await openSocket(t, api.wsUrl, other)
  keen.send({ query: wanted })
  for (let i = 0; i < 2; i++) {
    const deaf = await openSocket(t, api.wsUrl, attacker)
    deaf.send({ query: wanted })
    deaf.ws.pause()
    const stream = await openStream(t, api.url, wanted, attacker)
    stream.response.pause()
  }
  await api.subscribed(5)
  const text = 'x'.repeat(50_000)
  for (let n = 0; api.parts.engine.counts().subscribers > 1; n++) {
    await api.parts.topics.publish('wide', { text: text + n })
    assert.equal((await keen.next()).data.wide.text, text + n, 'the others hear everything')
    assert.ok(n < 5000)
  }
  for (const kind of ['a socket', 'an event stream']) {
    const line = `${kind} was cut off: its address holds too many bytes`
    assert.ok(
      api.log.slice(logged).some((each) => each.includes(line)),
      line,
    )
  }
})

test('a response longer than the buffer limit arrives complete', async (t) => {
  const api = await unused()
  const transport = await openTransport(t, api.wsUrl)
  transport.send({ id: '1', type: 'subscribe', payload: { query: '{ long }' } })
  assert.equal((await transport.next()).payload.data.long.length, 8_000_000)
  assert.deepEqual(await transport.next(), { id: '1', type: 'complete' })
  const stream = await openStream(t, api.url, '{ long }')
  await stream.ended
  assert.deepEqual(
    stream.events.map(({ event }) => event),
    ['next', 'complete'],
  )
})

test('a client that sends without reading is not read from, and gets its responses once it reads', async (t) => {
  const api = await unused()
  const socket = await openSocket(t, api.wsUrl)
  socket.ws.pause()
  for (let id = 0; id < 100; id++) {
    socket.send({ id, query: '{ asked }' })
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.ws.resume()
  for (let i = 0; i < 100; i++) assert.equal((await socket.next()).data.asked, text)
})

test('long texts in place of a token are refused without being parsed', async (t) => {
  const api = await unused()
  for (const authorization of [' '.repeat(60_000), `Bearer ${' '.repeat(60_000)}\n`, `Bearer ${'x'.repeat(200_000)}`]) {
    const socket = await openSocket(t, api.wsUrl, { protocol: 'graphql-transport-ws' })
    socket.send({ type: 'connection_init', payload: { authorization } })
    assert.deepEqual(await socket.closed, { code: 4403, reason: 'Forbidden' })
  }
  const { access } = await signIn(api)
  const payload = { authorization: null, Authorization: `Bearer ${access}` }
  const socket = await openTransport(t, api.wsUrl, payload)
  socket.send({ id: '1', type: 'subscribe', payload: { query: '{ me { email } }' } })
  assert.ok((await socket.next()).payload.data.me, 'nobody who shows a token is taken for anonymous')
  assert.equal((await send(api, '{ me { id } }')).status, 200)
})

test('fifty operations of an address run at once, across all its sockets; another address does not wait', async (t) => {
  let running = 0
  let most = 0
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  resolveSlow = async () => {
    running += 1
    most = Math.max(most, running)
    await gate
    running -= 1
    return 1
  }
  const api = await unused()
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(t, api.wsUrl, attacker)))
  for (const socket of sockets) for (let id = 0; id < 10; id++) socket.send({ id, query: '{ slow }' })
  await eventually(() => assert.equal(running, 50))
  const neighbour = await openSocket(t, api.wsUrl, other)
  neighbour.send({ query: '{ me { id } }' })
  assert.deepEqual(await neighbour.next(), { data: { me: null } })
  // A client that disconnects abandons its operations, and the others get their turn.
  for (const { ws } of sockets.splice(0, 3)) ws.terminate()
  release()
  for (const socket of sockets) for (let i = 0; i < 10; i++) assert.equal((await socket.next()).data.slow, 1)
  assert.equal(most, 50)
})
