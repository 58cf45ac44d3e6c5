/** Writers that create, change, delete and restore products, all of them the same ones, on any node. */
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type ConsoleBrowser, openConsole } from '../../../support/console.ts'
import { type CallOptions, send } from '../requests.ts'

export type WriteKind = 'create' | 'update' | 'delete' | 'restore' | 'transaction'

export interface Writers {
  /** Of the writes that were acknowledged. */
  counts: ReadonlyMap<WriteKind, number>
  /** Products whose creation was acknowledged. */
  created: ReadonlySet<number>
  /** What no write may be answered with. */
  surprises: readonly string[]
  stop(): Promise<void>
}

export interface WritersOptions {
  count: number
  pickNode(): string
  random(): number
  /** If it is PostgreSQL's, some transactions are held open by another program. */
  databaseUrl: string
}

const path = '/api/v2/products'
const password = 'Correct-Horse-1'
/** The machine has to start processes meanwhile. */
const pauseMs = 30
const lostMs = 200
const maxOpenMs = 400
/** Of the newest products, so that writers meet. */
const chosenFrom = 200

/** The nodes must be running. */
export async function startWriters(options: WritersOptions): Promise<Writers> {
  const { count, pickNode, random, databaseUrl } = options
  const counts = new Map<WriteKind, number>()
  const created = new Set<number>()
  const ids: number[] = []
  const surprises: string[] = []
  let isOver = false

  const acknowledge = (kind: WriteKind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const pick = () => ids[ids.length - 1 - Math.floor(random() * Math.min(ids.length, chosenFrom))]

  async function runWriter(number: number): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    const email = `writer-${number}@example.com`
    const register = { path: '/api/auth/register', body: { email, password } }
    const login = { path: '/api/auth/login', body: { email, password } }
    let token: string | undefined
    const browsers = new Map<string, ConsoleBrowser>()

    /** Undefined if it is not known what became of it. */
    async function call(wanted: readonly number[], call: CallOptions) {
      const answer = await send(agent, pickNode(), call).catch(() => undefined)
      if (!answer || answer.status === 503) {
        await sleep(lostMs)
        return undefined
      }
      if (wanted.includes(answer.status)) return answer
      surprises.push(`${call.method ?? ''} ${call.path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
      return undefined
    }

    async function signIn(): Promise<void> {
      if (!(await call([201, 409], register))) return
      token = (await call([200], login))?.body.access_token
    }

    async function create(i: number): Promise<void> {
      const body = { name: `Product ${number}-${i}`, description: `Made by ${number}`, price: i / 100, stock: i }
      const answer = await call([201], { path, body, ...bearer() })
      if (!answer) return
      const { id } = answer.body.data
      created.add(id)
      ids.push(id)
      acknowledge('create')
    }

    async function change(id: number, i: number): Promise<void> {
      const body = { name: `Changed ${number}-${i}`, stock: i, active: i % 3 > 0 }
      const answer = await call([200, 404], { path: `${path}/${id}`, method: 'PUT', body, ...bearer() })
      if (answer?.status === 200) acknowledge('update')
    }

    async function remove(id: number): Promise<void> {
      const answer = await call([204, 404], { path: `${path}/${id}`, method: 'DELETE', ...bearer() })
      if (answer?.status === 204) acknowledge('delete')
    }

    const bearer = () => (token === undefined ? {} : { token })

    /** By the button of the console. */
    async function restore(id: number): Promise<void> {
      const url = pickNode()
      const browser = browsers.get(url) ?? openConsole({ url })
      browsers.set(url, browser)
      const action = `/console/products/${id}/restore`
      try {
        const page = await browser.open(`/console/products?deleted=${id}`)
        if (page.location !== undefined) await browser.signIn(email, password)
        else if (page.hasForm(action) && (await browser.submit(action)).status === 303) acknowledge('restore')
      } catch {
        // The node is gone.
        await sleep(lostMs)
      }
    }

    for (let i = 1; !isOver; i++) {
      const id = pick()
      const choice = random()
      if (token === undefined) await signIn()
      else if (id === undefined || choice < 0.25) await create(i)
      else if (choice < 0.6) await change(id, i)
      else if (choice < 0.8) await remove(id)
      else await restore(id)
      await sleep(pauseMs)
    }
    agent.destroy()
  }

  /** Begins before others and ends after them, or is rolled back: the log must not skip what it has written. */
  async function runTransactions(): Promise<void> {
    while (!isOver) {
      const id = pick()
      if (id !== undefined && (await holdTransaction(databaseUrl, id, random))) acknowledge('transaction')
      await sleep(pauseMs)
    }
  }

  const running = Array.from({ length: count }, (_, i) => runWriter(i))
  if (databaseUrl.startsWith('postgres')) running.push(runTransactions())
  return {
    counts,
    created,
    surprises,
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

/** Returns whether it was committed. */
async function holdTransaction(url: string, id: number, random: () => number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  // Of a server that is killed.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('BEGIN')
    const text = 'UPDATE products SET stock = stock + 1, version = version + 1 WHERE id = $1 AND deleted_at IS NULL'
    const { rowCount } = await client.query(text, [id])
    await sleep(random() * maxOpenMs)
    const isKept = random() < 0.8
    await client.query(isKept ? 'COMMIT' : 'ROLLBACK')
    return isKept && rowCount === 1
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
