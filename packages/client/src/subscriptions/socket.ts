/** A subscription over a WebSocket, by the protocol graphql-transport-ws. */
import { type GraphQLErrorEntry, GraphQLRequestError } from '../errors.ts'
import type { GraphQLResult } from '../graphql.ts'
import { type Connect, ConnectionLost, TokenRefused } from './connection.ts'
import { createValueQueue } from './value-queue.ts'

interface Message {
  type: string
  payload?: unknown
}

const pingMs = 20_000
const closedByToken = 4403
/** Another connection would be closed for the same reason. */
const fatalCodes = [4400, 4401, 4406, 4409, 4429]

export function createSocketConnect(Socket: typeof globalThis.WebSocket): Connect {
  return async function* connect({ url, token, payload, signal, onOpen }) {
    const queue = createValueQueue<GraphQLResult>()
    const socket = new Socket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    const send = (message: object) => socket.send(JSON.stringify(message))
    let hasHeard = true

    // A connection that has died without a word is noticed by an unanswered ping.
    const pings = setInterval(() => {
      if (!hasHeard) queue.fail(new ConnectionLost())
      hasHeard = false
      if (socket.readyState === socket.OPEN) send({ type: 'ping' })
    }, pingMs)

    function onMessage({ type, payload: received }: Message): void {
      if (type === 'connection_ack') {
        send({ id: '1', type: 'subscribe', payload })
        onOpen()
      } else if (type === 'ping') send({ type: 'pong' })
      else if (type === 'next') queue.push(received as GraphQLResult)
      else if (type === 'error') queue.fail(new GraphQLRequestError(received as GraphQLErrorEntry[]))
      else if (type === 'complete') queue.end()
    }

    socket.onopen = () =>
      send({ type: 'connection_init', ...(token !== undefined && { payload: { authorization: `Bearer ${token}` } }) })
    socket.onmessage = ({ data }) => {
      hasHeard = true
      onMessage(JSON.parse(String(data)) as Message)
    }
    // The close event follows. Without a listener, the package "ws" would throw.
    socket.onerror = () => {}
    socket.onclose = ({ code, reason }) => {
      if (code === closedByToken) queue.fail(new TokenRefused())
      else if (fatalCodes.includes(code)) queue.fail(new Error(`The socket was closed: ${code} ${reason}`))
      else queue.fail(new ConnectionLost())
    }
    signal.addEventListener('abort', queue.end)
    try {
      yield* queue.read()
    } finally {
      clearInterval(pings)
      signal.removeEventListener('abort', queue.end)
      socket.onmessage = null
      socket.close()
    }
  }
}
