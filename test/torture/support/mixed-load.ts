/** Sign-ins, refreshes, writes, reads and subscriptions, each checked against what was acknowledged. */
import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Answer, type CallOptions, send } from './requests.ts'

export type Kind =
  | 'sign-in'
  | 'sign-out'
  | 'refresh'
  | 'create'
  | 'update'
  | 'delete'
  | 'read'
  | 'list'
  | 'graphql'
  | 'socket'

/** What became of a request. `answered by the proxy` and `not answered` are lost. */
export type Outcome =
  | 'as expected'
  | 'service 503'
  | 'proxy 503'
  | 'answered by the proxy'
  | 'not answered'
  | 'unexpected'

export type Counts = Map<Kind, Map<Outcome, number>>

export interface Load {
  /** Outcomes by kind, since the last `take`. */
  counts(): Counts
  take(): Counts
  /** Whether creates and refreshes carry an `Idempotency-Key`, from now on. They do not at first. */
  sendKeys(isWanted: boolean): void
  /** Names by id of the products whose creation was acknowledged. Empty in a steady load. */
  acknowledged: ReadonlyMap<number, string>
  /** Descriptions of unexpected answers. */
  surprises: readonly string[]
  /** Close codes of sockets. */
  closes: ReadonlyMap<number, number>
  /** Values that the sockets have received, in all. */
  received(): number
  openSockets(): number
  stop(): Promise<void>
}

const password = 'Correct-horse-9'
const productsPath = '/api/v2/products'
const maxSurprises = 20
/** Between the requests of one worker. */
const pauseMs = 1
/** Access tokens last half an hour. */
const productsPerSignIn = 500

const subscription = { query: 'subscription { productCreated { id } }' }

/** Sub-protocols, and what subscribes. */
const protocols = {
  plain: { names: [], messages: [subscription] },
  'graphql-transport-ws': {
    names: ['graphql-transport-ws'],
    messages: [{ type: 'connection_init' }, { id: '1', type: 'subscribe', payload: subscription }],
  },
} as const
type Protocol = keyof typeof protocols

export interface LoadOptions {
  url: string
  /** Of each kind of request. */
  workers: number
  sockets: number
  /**
   * Reads lists and GraphQL too, changes and deletes each product after its creation, signs out, and closes sockets, which
   * use both protocols, after a few seconds.
   */
  isSteady?: boolean
}

export async function startLoad({ url, workers, sockets, isSteady = false }: LoadOptions): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: workers * 4 })
  const acknowledged = new Map<number, string>()
  const surprises: string[] = []
  const closes = new Map<number, number>()
  let counts: Counts = new Map()
  let isStopping = false
  let hasKeys = false
  let received = 0
  const open = new Set<WebSocket>()

  function count(kind: Kind, outcome: Outcome, detail = ''): void {
    const outcomes = counts.get(kind) ?? new Map<Outcome, number>()
    counts.set(kind, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1))
    if (outcome === 'unexpected' && surprises.length < maxSurprises) surprises.push(`${kind}: ${detail}`)
  }

  function keyHeaders(): Record<string, string> {
    return hasKeys ? { 'idempotency-key': randomUUID() } : {}
  }

  /** Counts the outcome. Returns the answer if it is the expected one. */
  async function call(kind: Kind, expected: number, options: CallOptions): Promise<Answer | Outcome> {
    const answer = await send(agent, url, options).catch(() => undefined)
    const outcome = outcomeOf(answer, expected)
    count(kind, outcome, JSON.stringify(answer))
    return answer && outcome === 'as expected' ? answer : outcome
  }

  /** One user each: a user's oldest sessions end when there are too many. */
  async function register(name: string): Promise<string> {
    const email = `${name}@example.com`
    const { status } = await send(agent, url, { path: '/api/auth/register', body: { email, password } })
    if (status !== 201) throw new Error(`the registration was answered with ${status}`)
    return email
  }

  async function signIn(email: string): Promise<{ access_token: string; refresh_token: string }> {
    for (;;) {
      const answer = await call('sign-in', 200, { path: '/api/auth/login', body: { email, password } })
      if (typeof answer === 'object') return answer.body
      await sleep(50)
    }
  }

  async function createProducts(worker: number, email: string): Promise<void> {
    let token = ''
    for (let i = 0; !isStopping; i++) {
      if (i % productsPerSignIn === 0) token = (await signIn(email)).access_token
      const name = `product ${worker}-${i}`
      const body = { name, description: 'Under load', price: 1, stock: i }
      const answer = await call('create', 201, { path: productsPath, body, token, headers: keyHeaders() })
      if (typeof answer === 'object') {
        const { id } = answer.body.data
        // At once, and maybe from the other node.
        await readProduct(id, { name, token })
        if (isSteady) await useUp(id, { name, token })
        else acknowledged.set(id, name)
      } else await sleep(20)
      await sleep(pauseMs)
    }
  }

  async function readProduct(id: number, { name, token }: { name: string; token: string }): Promise<void> {
    const read = await call('read', 200, { path: `${productsPath}/${id}`, token })
    if (typeof read === 'object' && read.body.data.attributes.name !== name) {
      count('read', 'unexpected', JSON.stringify(read.body))
    }
  }

  /** Everything else that is done to a product, in the end its deletion. */
  async function useUp(id: number, { name, token }: { name: string; token: string }): Promise<void> {
    const path = `${productsPath}/${id}`
    const change = { stock: 0, name: `${name} (changed)` }
    const updated = await call('update', 200, { path, method: 'PUT', body: change, token })
    await call('list', 200, { path: `${productsPath}?page=1&per_page=20` })
    await call('list', 200, { path: `${productsPath}?q=${encodeURIComponent(name)}` })
    const body = { query: `{ product(id: ${id}) { name stock } products(perPage: 5) { data { id name } } }` }
    const answer = await call('graphql', 200, { path: '/graphql', body })
    const isKnown = typeof updated === 'object' && typeof answer === 'object'
    if (isKnown && answer.body.data?.product?.stock !== 0) {
      count('graphql', 'unexpected', JSON.stringify(answer.body))
    }
    await call('delete', 204, { path, method: 'DELETE', token })
  }

  async function refreshTokens(email: string): Promise<void> {
    while (!isStopping) {
      let { refresh_token } = await signIn(email)
      // A token that was never answered for may have been used. All others are valid.
      for (let isCertain = true; !isStopping && isCertain; ) {
        const options = { path: '/api/auth/refresh', body: { refresh_token }, headers: keyHeaders() }
        const answer = await call('refresh', 200, options)
        if (typeof answer === 'object') refresh_token = answer.body.refresh_token
        else isCertain = answer === 'service 503' || answer === 'proxy 503'
        await sleep(typeof answer === 'object' ? pauseMs : 20)
      }
    }
  }

  async function subscribe(protocol: Protocol): Promise<void> {
    const { names, messages } = protocols[protocol]
    while (!isStopping) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, [...names])
      await new Promise<void>((resolve) => {
        socket.on('open', () => {
          count('socket', 'as expected')
          open.add(socket)
          for (const message of messages) socket.send(JSON.stringify(message))
          if (isSteady) setTimeout(() => socket.close(), 1000 + Math.random() * 4000)
        })
        socket.on('message', () => {
          received += 1
        })
        socket.on('unexpected-response', (_request, { statusCode: status = 0, headers }) => {
          const isFromService = headers['x-request-id'] !== undefined
          count('socket', outcomeOf({ status, isFromService }, 101), `refused with ${status}`)
          socket.terminate()
        })
        socket.on('error', () => {})
        socket.on('close', (code) => {
          if (open.delete(socket)) closes.set(code, (closes.get(code) ?? 0) + 1)
          resolve()
        })
      })
      if (!isStopping) await sleep(50)
    }
  }

  async function signInAgain(email: string): Promise<void> {
    while (!isStopping) {
      const { access_token: token } = await signIn(email)
      if (isSteady) await call('sign-out', 200, { path: '/api/auth/logout', body: {}, token })
      await sleep(20)
    }
  }

  const numbers = Array.from({ length: workers }, (_, i) => i)
  const emails = await Promise.all(numbers.map((i) => register(`worker-${i}`)))
  const others = await Promise.all(numbers.slice(0, Math.ceil(workers / 4)).map((i) => register(`sign-in-${i}`)))
  const running = [
    ...emails.map((email, i) => createProducts(i, email)),
    ...emails.map(refreshTokens),
    ...others.map(signInAgain),
    ...Array.from({ length: sockets }, (_, i) => subscribe(isSteady && i % 2 === 1 ? 'graphql-transport-ws' : 'plain')),
  ]
  return {
    counts: () => counts,
    take() {
      const taken = counts
      counts = new Map()
      return taken
    },
    sendKeys(isWanted) {
      hasKeys = isWanted
    },
    acknowledged,
    surprises,
    closes,
    received: () => received,
    openSockets: () => open.size,
    async stop() {
      isStopping = true
      for (const socket of open) socket.close()
      await Promise.all(running)
      agent.destroy()
    },
  }
}

function outcomeOf(answer: Pick<Answer, 'status' | 'isFromService'> | undefined, expected: number): Outcome {
  if (!answer) return 'not answered'
  if (answer.status === expected) return 'as expected'
  if (answer.status === 503) return answer.isFromService ? 'service 503' : 'proxy 503'
  return answer.isFromService ? 'unexpected' : 'answered by the proxy'
}
