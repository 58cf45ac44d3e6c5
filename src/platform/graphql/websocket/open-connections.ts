/** All open sockets, from the end of the handshake until they are closed. */
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import type { Authenticate } from '../../access/route-guards.ts'
import { cleanUserAgent } from '../../http/client.ts'
import { LazyLog } from '../../http/lazy-log.ts'
import type { Log } from '../../log/logger.ts'
import type { Engine } from '../execution/engine.types.ts'
import { closeReasons } from './close-reasons.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { createTransportProtocol } from './graphql-transport-ws.ts'
import { startHeartbeat, type Timing } from './heartbeat.ts'
import { createPlainJson } from './plain-json.ts'

export interface OpenConnectionsOptions extends Omit<ConnectionDeps, 'onReleased'> {
  log: Log
  timing?: Partial<Timing>
  /** Closing all sockets is spread over this time, so that the clients do not reconnect at the same moment. */
  closeOverMs?: number
}

/** A socket after its handshake. */
export interface AcceptedSocket {
  ws: WebSocket
  socket: Duplex
  address: string
  authenticate: Authenticate
  /** Overrides the default engine. */
  engine: Engine | undefined
  credential: { token: string | undefined } | undefined
  userAgent: string | undefined
  requestId: string
}

/** For the client's close frame, before the connection is terminated. */
export const closeWithinMs = 2000

/** Of closing all sockets. */
const stepMs = 20

const defaultTiming: Timing = { pingEveryMs: 30_000, initWithinMs: 3000, messageWithinMs: 10_000 }

export function createOpenConnections(options: OpenConnectionsOptions) {
  const { log, closeOverMs = 0 } = options
  const raw = createPlainJson()
  const transport = createTransportProtocol()
  const heartbeat = startHeartbeat({ ...defaultTiming, ...options.timing })
  const deps: ConnectionDeps = { ...options, onReleased: heartbeat.remove }
  const open = new Set<Connection>()
  let onEmpty = () => {}
  let isCutOff = false

  function add({ ws, socket, address, authenticate, engine, userAgent, requestId }: AcceptedSocket): Connection {
    const connection = new Connection({
      ws,
      socket,
      protocol: ws.protocol === '' ? raw : transport,
      client: { address, userAgent: cleanUserAgent(userAgent) },
      log: new LazyLog(log, { requestId }),
      authenticate,
      deps: engine ? { ...deps, engine } : deps,
    })
    open.add(connection)
    heartbeat.add(connection)
    ws.on('close', (code) => {
      connection.release()
      open.delete(connection)
      const ms = Math.round(performance.now() - connection.openedAt)
      log.info({ requestId, address, protocol: ws.protocol, closedWith: code, ms }, 'socket closed')
      if (open.size === 0) onEmpty()
    })
    return connection
  }

  async function drainAll(): Promise<void> {
    const connections = [...open]
    const steps = Math.ceil(closeOverMs / stepMs) || 1
    const atOnce = Math.ceil(connections.length / steps)
    for (const [i, connection] of connections.entries()) {
      if (i > 0 && i % atOnce === 0 && !isCutOff) await sleep(stepMs)
      connection.drain(closeReasons.goingAway)
    }
  }

  return {
    /** Without a selected subprotocol browsers fail the connection and never see the close reason. */
    chooseProtocol: (offered: Set<string>): string | false =>
      (offered.has(transport.subprotocol) ? transport.subprotocol : [...offered][0]) ?? false,

    accept(accepted: AcceptedSocket): void {
      const { ws, socket, credential } = accepted
      if (ws.protocol !== '' && ws.protocol !== transport.subprotocol) {
        const { code, text } = closeReasons.protocolNotAcceptable
        ws.on('error', () => {})
        ws.close(code, text)
        // Ignore further data.
        socket.removeAllListeners('data').pause()
        return
      }
      const connection = add(accepted)
      if (credential) connection.identify(credential.token)
    },

    counts(): { raw: number; transport: number } {
      let transportCount = 0
      for (const { protocol } of open) if (protocol === transport) transportCount += 1
      return { raw: open.size - transportCount, transport: transportCount }
    },

    async close(): Promise<void> {
      const emptied = new Promise<void>((resolve) => {
        onEmpty = resolve
      })
      await drainAll()
      const cutOff = setTimeout(() => {
        for (const { writer } of open) writer.terminate()
      }, closeWithinMs)
      if (open.size > 0) await emptied
      clearTimeout(cutOff)
      heartbeat.stop()
    },

    /** For `close`, not to wait any longer. */
    cutOff(): void {
      isCutOff = true
      for (const { writer } of open) writer.terminate()
    },
  }
}
