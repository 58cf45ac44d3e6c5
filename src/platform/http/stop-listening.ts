import { Server } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** Undocumented; without it a few connections more are reset. */
interface Handle {
  listen?(backlog: number): number
  close?(): void
  onconnection?(...args: unknown[]): void
}

/** Against clients that connect without end. */
const maxTurns = 1000

/**
 * Closes the listener and no connection; `server.close` of HTTP also ends the idle ones.
 *
 * The system resets connections that it has accepted and the process has not. A proxy has sent its request on them and
 * cannot know whether it was executed, so it must not repeat a POST. Under load there are always some. With an empty
 * backlog the system ignores further connection attempts, and refuses their repetition once the listener is closed. What
 * is waiting is accepted, and the listener is closed right after a connection was accepted, when no other is waiting, or
 * after `quietMs` without one. With 0 it is closed at once.
 */
export async function stopListening(server: Server, quietMs: number): Promise<void> {
  if (quietMs > 0 && server.listening) await emptyBacklog(server, quietMs)
  if (server.listening) Server.prototype.close.call(server)
}

async function emptyBacklog(server: Server, quietMs: number): Promise<void> {
  const { _handle: handle } = server as Server & { _handle?: Handle }
  handle?.listen?.(0)
  let accepted = 0
  const onConnection = () => {
    accepted += 1
  }
  server.on('connection', onConnection)
  for (let before = -1, turns = 0; accepted !== before && turns < maxTurns; turns++) {
    before = accepted
    await turn()
    await turn()
  }
  server.off('connection', onConnection)
  await closeAtNext(handle, quietMs)
}

/** Closes the listener when a connection is handed over, before Node takes a tenth of a millisecond to make a socket of it. */
function closeAtNext(handle: Handle | undefined, quietMs: number): Promise<void> {
  const { onconnection } = handle ?? {}
  if (!handle || !onconnection) return sleep(quietMs)
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      handle.close?.()
      resolve()
    }
    const timer = setTimeout(end, quietMs)
    handle.onconnection = (...args) => {
      end()
      onconnection.apply(handle, args)
    }
  })
}
