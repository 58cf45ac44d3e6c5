/**
 * The client's side of graphql-transport-ws, for a socket that serves one subscription. GraphiQL has a client of its own,
 * but that one takes 4403 for a passing trouble: whoever pastes an expired token would wait half a minute to hear of it.
 */

/** Its `subscribe` is that of a client of graphql-ws. `headers` become the payload of connection_init. */
export function createSubscriber(url, headers) {
  return {
    subscribe(operation, sink) {
      const socket = new WebSocket(url, 'graphql-transport-ws')
      let isOver = false
      const send = (message) => socket.send(JSON.stringify(message))
      const end = (tell) => {
        if (isOver) return
        isOver = true
        socket.close(1000)
        tell()
      }
      const receivers = {
        connection_ack: () => send({ id: '1', type: 'subscribe', payload: operation }),
        ping: () => send({ type: 'pong' }),
        next: ({ payload }) => sink.next(payload),
        error: ({ payload }) => end(() => sink.error(payload)),
        complete: () => end(() => sink.complete()),
      }
      socket.onopen = () => send({ type: 'connection_init', payload: headers })
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data)
        if (!isOver) receivers[message.type]?.(message)
      }
      socket.onclose = ({ code, reason }) => end(() => sink.error([{ message: `Socket closed: ${code} ${reason}` }]))
      return () => end(() => sink.complete())
    },
  }
}
