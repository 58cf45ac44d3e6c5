/**
 * Accepts connections in place of a thread that is late. The kernel has chosen that thread for them, and they would wait
 * for it. The main thread accepts them from the same socket and hands them to threads that respond, so that none is lost,
 * not even those that have been waiting.
 */
import { closeSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { stopListening } from '../../platform/http/stop-listening.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { Descriptors, ServerName } from './thread-methods.ts'

export interface Takeover {
  /** Call when the thread accepts connections again, or with `isDead` when its successor does. */
  end(isDead: boolean): void
}

export interface TakeoverOptions {
  descriptors: Descriptors
  /** Returns false if no thread can take the connection. */
  handOn(connection: { server: ServerName; descriptor: number }): boolean
  log: Log
}

/** For connections that wait to be accepted when the takeover ends. */
const quietMs = 50

export function takeOver({ descriptors, handOn, log }: TakeoverOptions): Takeover {
  const servers = Object.entries(descriptors).map(([name, descriptor]) =>
    acceptFrom(descriptor, log, (connection) => handOn({ server: name as ServerName, descriptor: connection })),
  )
  return {
    end(isDead) {
      for (const server of servers) {
        // Otherwise what waits is the thread's, and an empty backlog would be too: the socket is the same.
        if (isDead && server) void stopListening(server, quietMs)
        else server?.close()
      }
    },
  }
}

function acceptFrom(listening: number, log: Log, handOn: (connection: number) => boolean): Server | undefined {
  const own = duplicate(listening)
  if (own < 0) return undefined
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const { _handle: handle } = socket as Socket & { _handle?: { fd: number } | null }
    const connection = duplicate(handle?.fd ?? -1)
    // Without a word to the client if the connection goes on elsewhere.
    if (connection >= 0 && handOn(connection)) return void socket.destroy()
    if (connection >= 0) closeSync(connection)
    socket.resetAndDestroy()
  })
  server.on('error', (error) => log.warn({ err: error }, 'connections of a late thread cannot be taken over'))
  server.listen({ fd: own })
  return server.unref()
}

type SystemCall = (...numbers: number[]) => number
interface ForeignFunctions {
  dlopen(library: null, functions: object): { functions: { fcntl: SystemCall } }
}

let fcntl: SystemCall | undefined

/** F_DUPFD_CLOEXEC of Linux, the only system on which several threads serve. */
const duplicateCommand = 1030

/** Node has no way to use a socket in two threads, so the system is asked. Returns -1 if that fails. */
function duplicate(descriptor: number): number {
  if (descriptor < 0) return -1
  // Undefined in versions of Node without it: then connections wait for the replacement of the thread.
  const ffi = process.getBuiltinModule('node:ffi' as 'node:net') as unknown as ForeignFunctions | undefined
  fcntl ??= ffi?.dlopen(null, { fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' } }).functions.fcntl
  return fcntl?.(descriptor, duplicateCommand, 0) ?? -1
}
