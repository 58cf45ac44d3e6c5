/**
 * A graphql-transport-ws client with one socket per subscription. The client in GraphiQL retries after 4403, so an
 * expired token would be reported only after half a minute.
 */

/** Has the `subscribe` of a graphql-ws client. `headers` are the payload of connection_init. */
export function createSubscriber(url, headers) {
  return {
    subscribe(operation, sink) {
      const socket = new WebSocket(url, 'graphql-transport-ws')
      let isOver = false
      const send = (message) => socket.send(JSON.stringify(message))
      const end = (notifySink) => {
        if (isOver) return
        isOver = true
        socket.close(1000)
        notifySink()
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
