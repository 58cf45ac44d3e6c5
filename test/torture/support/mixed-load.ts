/** Sign-ins, refreshes, writes, reads and subscriptions through a proxy, each checked against what was acknowledged. */
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

export type Kind = 'sign-in' | 'refresh' | 'create' | 'read' | 'socket'

/** What became of a request. `answered by the proxy` and `not answered` are lost. */
export type Outcome =
  | 'as expected'
  | 'service 503'
  | 'proxy 503'
  | 'answered by the proxy'
  | 'not answered'
  | 'unexpected'

export interface Load {
  /** Outcomes since the last call, by kind. */
  take(): Map<Kind, Map<Outcome, number>>
  /** Names by id of the products whose creation was acknowledged. */
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

interface Answer {
  status: number
  /** The proxy's own answers have no request id. */
  isFromService: boolean
  // biome-ignore lint/suspicious/noExplicitAny: the load looks into answers of every shape
  body: any
}

const password = 'Correct-horse-9'
const maxSurprises = 20
/** Between the requests of one worker. */
const pauseMs = 1

export interface LoadOptions {
  url: string
  /** Of each kind of request. */
  workers: number
  sockets: number
}

export async function startLoad({ url, workers, sockets }: LoadOptions): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: workers * 4 })
  const acknowledged = new Map<number, string>()
  const surprises: string[] = []
  const closes = new Map<number, number>()
  let counts = new Map<Kind, Map<Outcome, number>>()
  let isStopping = false
  let received = 0
  const open = new Set<WebSocket>()

  function count(kind: Kind, outcome: Outcome, detail = ''): void {
    const outcomes = counts.get(kind) ?? new Map<Outcome, number>()
    counts.set(kind, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1))
    if (outcome === 'unexpected' && surprises.length < maxSurprises) surprises.push(`${kind}: ${detail}`)
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
    const { access_token: token } = await signIn(email)
    for (let i = 0; !isStopping; i++) {
      const name = `product ${worker}-${i}`
      const body = { name, description: 'Under load', price: 1, stock: i }
      const answer = await call('create', 201, { path: '/api/v2/products', body, token })
      if (typeof answer === 'object') {
        acknowledged.set(answer.body.data.id, name)
        // At once, and maybe from the other node.
        const read = await call('read', 200, { path: `/api/v2/products/${answer.body.data.id}`, token })
        if (typeof read === 'object' && read.body.data.attributes.name !== name) {
          count('read', 'unexpected', JSON.stringify(read.body))
        }
      } else await sleep(20)
      await sleep(pauseMs)
    }
  }

  async function refreshTokens(email: string): Promise<void> {
    while (!isStopping) {
      let { refresh_token } = await signIn(email)
      // A token that was never answered for may have been used. All others are valid.
      for (let isCertain = true; !isStopping && isCertain; ) {
        const answer = await call('refresh', 200, { path: '/api/auth/refresh', body: { refresh_token } })
        if (typeof answer === 'object') refresh_token = answer.body.refresh_token
        else isCertain = answer === 'service 503' || answer === 'proxy 503'
        await sleep(typeof answer === 'object' ? pauseMs : 20)
      }
    }
  }

  async function subscribe(): Promise<void> {
    while (!isStopping) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`)
      await new Promise<void>((resolve) => {
        socket.on('open', () => {
          count('socket', 'as expected')
          open.add(socket)
          socket.send(JSON.stringify({ query: 'subscription { productCreated { id } }' }))
        })
        socket.on('message', () => {
          received += 1
        })
        socket.on('unexpected-response', (_request, { statusCode: status = 0, headers }) => {
          const isFromService = headers['x-request-id'] !== undefined
          count('socket', outcomeOf({ status, isFromService, body: '' }, 101), `refused with ${status}`)
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
      await signIn(email)
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
    ...Array.from({ length: sockets }, () => subscribe()),
  ]
  return {
    take() {
      const taken = counts
      counts = new Map()
      return taken
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

function outcomeOf(answer: Answer | undefined, expected: number): Outcome {
  if (!answer) return 'not answered'
  if (answer.status === expected) return 'as expected'
  if (answer.status === 503) return answer.isFromService ? 'service 503' : 'proxy 503'
  return answer.isFromService ? 'unexpected' : 'answered by the proxy'
}

interface CallOptions {
  path: string
  body?: object
  token?: string
}

function send(agent: Agent, url: string, { path, body, token }: CallOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body)
    const headers = {
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const request = httpRequest(
      url + path,
      { agent, method: text === undefined ? 'GET' : 'POST', headers },
      (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          received += chunk
        })
        response.on('error', reject)
        response.on('end', () => {
          const isFromService = response.headers['x-request-id'] !== undefined
          const isJson = response.headers['content-type']?.includes('json')
          resolve({ status: response.statusCode ?? 0, isFromService, body: isJson ? JSON.parse(received) : received })
        })
      },
    )
    request.on('error', reject)
    request.setTimeout(30_000, () => request.destroy(new Error('no answer within 30 seconds')))
    request.end(text)
  })
}
