/**
 * The server of graphql-ws on the library that we use too, with the same schema of the counter. As its guide starts it,
 * graphql-js executes each value for each subscriber; with SHARED, each value is executed once for all of them.
 */
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { buildSchema, type ExecutionResult, execute, parse } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import { type AsyncQueue, createAsyncQueue } from '../../src/platform/graphql/subscriptions/async-queue.ts'
import { counterQuery, cpuSeconds, firstCount, heapNow } from '../support/fan-out.ts'

interface Root {
  counter: { count: number }
}

const schema = buildSchema(`
  type Counter { count: Int }
  type Query { me: ID }
  type Subscription { counter: Counter }
`)
const document = parse(counterQuery)
const isShared = process.env.SHARED === '1'
const queues = new Set<AsyncQueue<Root | ExecutionResult>>()

function subscribe(): AsyncIterableIterator<Root | ExecutionResult> {
  const queue = createAsyncQueue<Root | ExecutionResult>({ onReturn: () => queues.delete(queue) })
  queues.add(queue)
  return queue.iterator
}

async function publish(count: number): Promise<void> {
  const root: Root = { counter: { count } }
  const value = isShared ? await execute({ schema, document, rootValue: root }) : root
  for (const queue of queues) queue.push(value)
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  if (pathname === '/publish') {
    for (let i = 0; i < Number(searchParams.get('values')); i++) {
      await publish(firstCount + i)
      await turn()
    }
  }
  const state = pathname === '/memory' ? { heap: heapNow() } : { subscribers: queues.size, cpuSeconds: cpuSeconds() }
  response.end(JSON.stringify(state))
})
const sockets = new WebSocketServer({ server, path: '/graphql' })
useServer(
  isShared
    ? { schema, subscribe: () => subscribe() as AsyncIterableIterator<ExecutionResult> }
    : { schema, roots: { subscription: { counter: subscribe } } },
  sockets,
  // As often as our own server asks.
  30_000,
)
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
