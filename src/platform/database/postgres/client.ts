/** Queries on one PostgreSQL connection, and fair reading of their results. */
import type { Socket } from 'node:net'
import type pg from 'pg'
import type { PostgresHost } from '../../../core/postgres-url.ts'
import type { NamedStatements } from './named-statements.ts'

/** A connection of the pool. */
export interface Connection {
  readonly client: pg.Client
  readonly ask: Ask
  readonly statements: NamedStatements
  readonly host: PostgresHost
  /** Behind a pooler. */
  readonly isPooled: boolean
  /** The server process; with transaction pooling, that of the current transaction, or 0 before it has begun. */
  pid: number
}

/** Runs a query on a borrowed connection. */
export type Ask = <Row extends object>(query: string | pg.QueryConfig) => Promise<Row[]>

/** Parsed in well under a millisecond. */
const bytesPerTurn = 64 * 1024

/**
 * Uses callbacks: the promises and per-query timers of pg chain consecutive results together, so that V8 keeps the rows of
 * a hundred queries alive and copies them in garbage collections of 8 to 16 ms.
 */
export function createAsk(client: pg.ClientBase): Ask {
  return <Row extends object>(query: string | pg.QueryConfig) =>
    new Promise<Row[]>((resolve, reject) => {
      client.query<Row>(query as pg.QueryConfig, (error: Error | null, result) => {
        if (error) reject(error)
        else resolve(result.rows)
      })
    })
}

export function streamOf(client: pg.Client): Socket {
  return client.connection.stream as Socket
}

/** Node reads a socket until it is empty; parsing a thousand rows at once would block the event loop for milliseconds. */
export function readByTurns(stream: Socket): void {
  let read = 0
  const resume = () => {
    read = 0
    stream.resume()
  }
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read < bytesPerTurn || stream.isPaused()) return
    stream.pause()
    setImmediate(resume)
  })
}
