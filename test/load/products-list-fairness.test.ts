/** Long lists are read from the database in turns between addresses, and only while the client reads. */
import assert from 'node:assert/strict'
import { type ClientRequest, type IncomingMessage, request, type Server } from 'node:http'
import { type TestContext, test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import type { Database, Value } from '../../src/platform/database/database.ts'
import { idIsListed } from '../../src/platform/database/id-lists.ts'
import { eventually } from '../support/eventually.ts'
import { productsPath, sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

/** The number of list parts that are read in parallel. */
const atOnce = 4
/** The number of parts of one address that may wait. */
const maxWaiting = 512

/** Products with long descriptions, each in a streamed list of its own, which is read when the test allows it. */
async function start(t: TestContext, count: number) {
  let server: Server | undefined
  const api = await startApiWithRoles(t, {
    extend(app) {
      server = app.server
    },
  })
  const products = Array.from({ length: count }, (_, i) => ({
    ...sampleRow,
    name: `Lamp ${i}`,
    description: 'x'.repeat(10_000),
  }))
  for (let i = 0; i < count; i += 100) {
    await api.db.write(insertMany('sqlite', products.slice(i, i + 100), '2026-01-01T00:00:00.000Z'))
  }
  const gate = holdReads(api.db)
  t.after(gate.open)
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server?.getConnections((error, open) => (error ? reject(error) : resolve(open))),
    )
  return { ...api, gate, connections }
}

/** Whole products are read only when they are let through, in order. `begun` has their ids. */
function holdReads(db: Database) {
  const begun: number[] = []
  const waiting: (() => void)[] = []
  let isOpen = false
  const { scan } = db
  Object.assign(db, {
    async scan<Row extends object>(sql: string, params: readonly Value[] = []) {
      if (sql.includes(idIsListed(db))) {
        begun.push(...(JSON.parse(String(params[0])) as number[]))
        if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
      }
      return scan<Row>(sql, params)
    },
  })
  return {
    begun,
    letOneThrough: () => waiting.shift()?.(),
    open() {
      isOpen = true
      for (const pass of waiting.splice(0)) pass()
    },
  }
}

interface Asked {
  sent: ClientRequest
  response: Promise<IncomingMessage | undefined>
}

/** The product with this id, as a list. */
function ask(url: string, id: number, localAddress = '127.0.0.1'): Asked {
  const sent = request(`${url}${productsPath}?per_page=1&page=${id}`, { localAddress, agent: false })
  const response = new Promise<IncomingMessage | undefined>((resolve) => {
    sent.on('response', (response) => resolve(response.resume())).on('error', () => resolve(undefined))
  })
  sent.end()
  return { sent, response }
}

test('an address with many waiting lists is refused further ones, and another address gets the next turn', async (t) => {
  const tooMany = 20
  const most = atOnce + maxWaiting
  const { url, gate } = await start(t, most + tooMany + 1)
  const responses: (IncomingMessage | undefined)[] = []
  const flood = Array.from({ length: most + tooMany }, (_, i) =>
    ask(url, i + 1).response.then((response) => responses.push(response)),
  )
  await eventually(() => assert.equal(responses.length, tooMany))
  for (const refused of responses) {
    assert.equal(refused?.statusCode, 503)
    assert.ok(Number(refused.headers['retry-after']) > 0)
  }
  assert.equal(gate.begun.length, atOnce)

  const id = most + tooMany + 1
  const other = ask(url, id, '127.0.0.2')
  await eventually(() => {
    gate.letOneThrough()
    assert.ok(gate.begun.includes(id))
  })
  assert.ok(gate.begun.length < most, 'before the flood has been read')

  gate.open()
  assert.equal((await other.response)?.statusCode, 200)
  await Promise.all(flood)
  assert.ok(responses.slice(tooMany).every((response) => response?.statusCode === 200))
})

test('nothing is read for clients that have disconnected', async (t) => {
  const { url, gate, connections } = await start(t, 30)
  const some = Array.from({ length: 20 }, (_, i) => ask(url, i + 1))
  await eventually(() => assert.equal(gate.begun.length, atOnce))
  const stay = new Set(gate.begun)
  for (const [i, { sent }] of some.entries()) if (!stay.has(i + 1)) sent.destroy()
  await eventually(async () => assert.equal(await connections(), atOnce))
  const next = ask(url, 30)
  gate.open()
  assert.equal((await next.response)?.statusCode, 200)
  assert.deepEqual(
    gate.begun.filter((id) => !stay.has(id)),
    [30],
  )
})
