/**
 * One timer for all sockets: asks them whether they are still there, and closes those that never introduce themselves or
 * leave a message unfinished.
 */
import { closeReasons } from './close-reasons.ts'
import type { Connection } from './connection.ts'

export interface Timing {
  pingEveryMs: number
  /** For the first message of a client that must introduce itself. */
  initWithinMs: number
  /** For a message, from its first byte to its last. */
  messageWithinMs: number
}

const tickMs = 250

export function startHeartbeat({ pingEveryMs, initWithinMs, messageWithinMs }: Timing) {
  const connections = new Set<Connection>()
  /** By when they were opened, as a set keeps its order. */
  const awaited = new Set<Connection>()
  let pingedAt = performance.now()

  function closeLate(now: number): void {
    for (const connection of awaited) {
      if (!connection.hasInit && now - connection.openedAt < initWithinMs) return
      awaited.delete(connection)
      if (!connection.hasInit) connection.close(closeReasons.initTimeout)
    }
  }

  function closeUnfinished(now: number): void {
    for (const connection of connections) {
      if ((connection.unfinishedMs(now) ?? 0) >= messageWithinMs) connection.close(closeReasons.messageTimeout)
      else connection.look()
    }
  }

  function pingAll(): void {
    for (const connection of connections) {
      // One that is not read from cannot answer.
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
      closeLate(now)
      closeUnfinished(now)
      if (now - pingedAt < pingEveryMs) return
      pingedAt = now
      pingAll()
    },
    Math.min(tickMs, pingEveryMs / 4, messageWithinMs / 4),
  ).unref()

  return {
    add(connection: Connection): void {
      connections.add(connection)
      if (connection.protocol.needsInit) awaited.add(connection)
    },
    remove(connection: Connection): void {
      connections.delete(connection)
      awaited.delete(connection)
    },
    stop: () => clearInterval(timer),
  }
}
