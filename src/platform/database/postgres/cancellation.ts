/**
 * Cancels the statement of a client that has disconnected, by the protocol's own request, which poolers pass on:
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 *
 * The request names a connection, not a statement, and may arrive after its statement has ended. So the connection is closed
 * afterwards: it never serves another statement.
 */
import pg from 'pg'
import type { CurrentClient } from '../../../core/current-client.ts'
import type { Connection } from './client.ts'

export interface Cancellation {
  /** Whether it has been requested. */
  isRequested(): boolean
  /** Call when the statement has ended. */
  close(): void
}

/** A new connection costs more than to let a short statement end. */
const graceMs = 50
const limitMs = 5000

export function cancelWhenGone(client: CurrentClient, connection: Connection): Cancellation {
  let isRequested = false
  let timer: NodeJS.Timeout | undefined
  const stopListening = client.onGone(() => {
    timer = setTimeout(() => {
      isRequested = true
      requestCancellation(connection)
    }, graceMs)
  })
  return {
    isRequested: () => isRequested,
    close() {
      stopListening()
      clearTimeout(timer)
    },
  }
}

/** Not in the types of pg. */
interface Cancellable {
  processID: number
  secretKey: number
}
interface CancelConnection extends NodeJS.EventEmitter {
  readonly ssl: unknown
  readonly sslNegotiation: string
  readonly stream: NodeJS.EventEmitter & { destroy(): void }
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
}

function requestCancellation({ client, host }: Connection): void {
  const { processID, secretKey } = client as unknown as Cancellable
  // Only for its settings: the request takes the place of a startup message.
  const settings = new pg.Client({ connectionString: host.url })
  const connection = settings.connection as unknown as CancelConnection
  const limit = setTimeout(close, limitMs)
  function close(): void {
    clearTimeout(limit)
    connection.stream.destroy()
  }
  const send = () => connection.cancel(processID, secretKey)
  const isPlain = !connection.ssl
  connection.on('connect', () => {
    if (isPlain) send()
    else if (connection.sslNegotiation !== 'direct') connection.requestSsl()
  })
  connection.on('sslconnect', send)
  // The server closes it. If it cannot be reached, the statement ends by its time limit.
  connection.on('error', close)
  connection.on('end', close)
  if (settings.host.startsWith('/')) connection.connect(`${settings.host}/.s.PGSQL.${settings.port}`)
  else connection.connect(settings.port, settings.host)
}
