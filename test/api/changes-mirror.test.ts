/** Consumers keep a copy of the table from the change log, while others write and connections are cut. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLatchkey } from '../../packages/client/src/index.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { type Api, startApi } from '../support/api.ts'
import { openChanges, type ReceivedChange, readChanges } from '../support/changes.ts'
import { onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { openSocket, openTransport } from '../support/sockets.ts'
import { amount } from '../support/tiers.ts'

const writers = 4
const stepsPerWriter = amount({ full: 20, otherwise: 10 })

interface Entry {
  cursor: string
  type: string
  version: number
  id: number
  name: string
}

/** A copy of the table, from what one consumer got. */
class Mirror {
  cursor: string
  readonly #versions = new Map<number, number>()
  readonly #names = new Map<number, string>()
  readonly #deleted = new Set<number>()

  constructor(cursor: string) {
    this.cursor = cursor
  }

  apply({ cursor, type, version, id, name }: Entry): void {
    const before = this.#versions.get(id) ?? 0
    assert.ok(version === before + 1, `version ${version} of ${id} came after ${before}`)
    this.#versions.set(id, version)
    this.cursor = cursor
    const isKnown = this.#names.has(id)
    if (type === 'product.created') assert.ok(!isKnown && !this.#deleted.has(id), `${id} was created twice`)
    if (type === 'product.updated') assert.ok(isKnown, `${id} was changed, but is not there`)
    if (type === 'product.restored') assert.ok(this.#deleted.delete(id), `${id} was restored, but not deleted`)
    if (type === 'product.deleted') {
      assert.ok(this.#names.delete(id), `${id} was deleted, but is not there`)
      this.#deleted.add(id)
    } else this.#names.set(id, name)
  }

  get rows(): string[] {
    return [...this.#names].map(([id, name]) => `${id} ${name}`).sort()
  }
}

const ofResource = ({ cursor, type, version, data }: ReceivedChange) => ({
  cursor,
  type,
  version,
  id: data.id,
  name: data.attributes.name,
})

/** Ends the reading, and throws what went wrong. */
type Stop = () => Promise<void>

/** Longer each time, so that whoever reads gets somewhere on a busy machine too. */
const cutAfterMs = (round: number) => 60 + 5 * round

/** Each reads until it is told to stop, from any of the nodes, and is cut off again and again. */
const consumers: Record<string, (t: TestContext, mirror: Mirror, next: () => Api) => Promise<Stop>> = {
  async rest(_t, mirror, next) {
    let isOver = false
    const reading = (async () => {
      while (!isOver) {
        const { status, body } = await readChanges(next(), { after: mirror.cursor, limit: 7, wait: 1 })
        assert.equal(status, 200)
        for (const change of body.data) mirror.apply(ofResource(change))
      }
    })()
    return () => {
      isOver = true
      return reading
    }
  },

  async events(t, mirror, next) {
    let isOver = false
    const reading = (async () => {
      for (let round = 0; !isOver; round++) {
        const stream = await openChanges(t, next().url, { lastEventId: mirror.cursor })
        assert.equal(stream.response.statusCode, 200)
        await sleep(cutAfterMs(round))
        stream.close()
        await stream.ended
        for (const change of stream.changes) mirror.apply(ofResource(change))
      }
    })()
    return () => {
      isOver = true
      return reading
    }
  },

  async client(_t, mirror, next) {
    const stop = new AbortController()
    const reading = (async () => {
      for (let round = 0; !stop.signal.aborted; round++) {
        const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(cutAfterMs(round))])
        const changes = createLatchkey({ url: next().url }).changes(mirror.cursor, { limit: 7, signal })
        for await (const change of changes) mirror.apply(ofResource(change))
      }
    })()
    return () => {
      stop.abort()
      return reading
    }
  },

  plain: (t, mirror, next) =>
    readBySocket(mirror, async () => {
      const socket = await openSocket(t, next().wsUrl)
      socket.send({ query, variables: { after: mirror.cursor } })
      return { socket, read: async () => (await socket.next()).data.productChanges }
    }),

  transport: (t, mirror, next) =>
    readBySocket(mirror, async () => {
      const socket = await openTransport(t, next().wsUrl)
      socket.send({ id: '1', type: 'subscribe', payload: { query, variables: { after: mirror.cursor } } })
      return { socket, read: async () => (await socket.next()).payload.data.productChanges }
    }),
}

const query =
  'subscription ($after: String) { productChanges(after: $after) { cursor type version product { id name } } }'

interface Reading {
  socket: { ws: { terminate(): void } }
  read(): Promise<Omit<Entry, 'id' | 'name'> & { product: { id: string; name: string } }>
}

async function readBySocket(mirror: Mirror, open: () => Promise<Reading>): Promise<Stop> {
  let isOver = false
  let cut = () => {}
  const reading = (async () => {
    for (let round = 0; !isOver; round++) {
      const { socket, read } = await open()
      cut = () => socket.ws.terminate()
      const timer = setTimeout(cut, cutAfterMs(round))
      try {
        for (;;) {
          const { product, ...change } = await read()
          mirror.apply({ ...change, id: Number(product.id), name: product.name })
        }
      } catch (error) {
        assert.match(String(error), /the socket was closed/)
      }
      clearTimeout(timer)
    }
  })()
  return () => {
    isOver = true
    cut()
    return reading
  }
}

onRacingEngine('a copy kept from the change log', (engine) => {
  test('equals the table, by every way to read, whatever was cut', async (t) => {
    const databases: Database[] = []
    const extend = (_app: unknown, { db }: { db: Database }) => void databases.push(db)
    const nodes = [await startApi(t, { engine, extend })]
    const [first] = nodes as [Api]
    if (engine === 'postgres') nodes.push(await startApi(t, { engine, env: { DATABASE_URL: first.databaseUrl } }))
    const { access } = await signIn(first)
    const start = (await api(nodes).get(productsPath)).headers.get('x-cursor') ?? ''
    const mirrors = new Map<string, Mirror>()
    const stops: Stop[] = []
    for (const [name, consume] of Object.entries(consumers)) {
      const mirror = new Mirror(start)
      mirrors.set(name, mirror)
      stops.push(await consume(t, mirror, () => api(nodes)))
    }

    await Promise.all(
      Array.from({ length: writers }, (_, i) => write({ api: api(nodes, i), access, db: databases[0] as Database })),
    )
    const table = await tableOf(first)
    assert.ok(table.length > writers)
    await eventually(() => {
      for (const [name, mirror] of mirrors) assert.deepEqual(mirror.rows, table, name)
    })
    await Promise.all(stops.map((stop) => stop()))
  })
})

let asked = 0
const api = (nodes: readonly Api[], i = asked++) => nodes[i % nodes.length] as Api

/** Creates, changes, deletes and restores. */
async function write({ api, access, db }: { api: Api; access: string; db: Database }): Promise<void> {
  const ids: number[] = []
  for (let step = 0; step < stepsPerWriter; step++) {
    const id = ids[step % Math.max(1, ids.length)] ?? 0
    const path = `${productsPath}/${id}`
    if (step % 5 < 2) ids.push(await createProduct(api, access, { name: `Made ${step}` }))
    else if (step % 5 === 2) await api.put(path, { name: `Changed ${step}` }, access)
    else if (step % 5 === 3) await api.delete(path, access)
    else {
      await db.write({
        sql: 'UPDATE products SET deleted_at = NULL, version = version + 1 WHERE id = $1 AND deleted_at IS NOT NULL',
        params: [id],
      })
    }
  }
}

async function tableOf(api: Api): Promise<string[]> {
  const { body } = await api.get(`${productsPath}?per_page=100`)
  assert.equal(body.meta.last_page, 1)
  return body.data
    .map(({ id, attributes }: { id: number; attributes: { name: string } }) => `${id} ${attributes.name}`)
    .sort()
}
