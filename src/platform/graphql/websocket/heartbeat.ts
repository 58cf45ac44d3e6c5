/** One timer for all sockets: pings them, and closes those without connection_init or with an incomplete message. */
import { closeReasons } from './close-reasons.ts'
import type { Connection } from './connection.ts'

export interface Timing {
  pingEveryMs: number
  /** For connection_init, where the protocol requires it. */
  initWithinMs: number
  /** For a message, from its first byte to its last. */
  messageWithinMs: number
}

const tickMs = 250

export function startHeartbeat({ pingEveryMs, initWithinMs, messageWithinMs }: Timing) {
  const connections = new Set<Connection>()
  /** In the order in which they were opened. */
  const uninitialised = new Set<Connection>()
  let pingedAt = performance.now()

  function closeUninitialised(now: number): void {
    for (const connection of uninitialised) {
      if (!connection.hasInit && now - connection.openedAt < initWithinMs) return
      uninitialised.delete(connection)
      if (!connection.hasInit) connection.close(closeReasons.initTimeout)
    }
  }

  function closeIncomplete(now: number): void {
    for (const connection of connections) {
      if ((connection.incompleteMs(now) ?? 0) >= messageWithinMs) connection.close(closeReasons.messageTimeout)
      else connection.refresh()
    }
  }

  function pingAll(): void {
    for (const connection of connections) {
      // Its pong would not be read.
      if (connection.writer.isPaused) continue
      if (connection.isAlive) {
        connection.isAlive = false
        connection.writer.ping()
      } else {
        connection.release()
        connection.writer.terminate()
      }
    }
  }

  const timer = setInterval(
    () => {
      const now = performance.now()
      closeUninitialised(now)
      closeIncomplete(now)
      if (now - pingedAt < pingEveryMs) return
      pingedAt = now
      pingAll()
    },
    Math.min(tickMs, pingEveryMs / 4, messageWithinMs / 4),
  ).unref()

  return {
    add(connection: Connection): void {
      connections.add(connection)
      if (connection.protocol.needsInit) uninitialised.add(connection)
    },
    remove(connection: Connection): void {
      connections.delete(connection)
      uninitialised.delete(connection)
    },
    stop: () => clearInterval(timer),
  }
}
