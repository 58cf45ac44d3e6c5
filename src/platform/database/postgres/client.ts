/** One connection to PostgreSQL: how it is asked, and how what it answers is read. */
import type { Socket } from 'node:net'
import type pg from 'pg'

/** Asks the connection that was lent. */
export type Ask = <Row extends object>(query: string | pg.QueryConfig) => Promise<Row[]>

/** Rows of so many bytes are read in well under a millisecond. */
const bytesPerTurn = 64 * 1024

/**
 * By a callback. The promise that the client would make, and so would its timer for each query, ties what was found to
 * what is found next: V8 then keeps and copies the rows of a hundred queries, for 8 to 16 ms at a time.
 */
export function createAsk(client: pg.ClientBase): Ask {
  return <Row extends object>(query: string | pg.QueryConfig) =>
    new Promise<Row[]>((resolve, reject) => {
      client.query<Row>(query as pg.QueryConfig, (error: Error | null, answer) => {
        if (error) reject(error)
        else resolve(answer.rows)
      })
    })
}

/** The types of a pool's clients do not tell of it. */
export function streamOf(client: pg.ClientBase): Socket {
  return (client as pg.Client).connection.stream as Socket
}

/** Node reads a socket until it is empty. A thousand rows read at once would hold up everybody for milliseconds. */
export function readByTurns(stream: Socket): void {
  let read = 0
  const goOn = () => {
    read = 0
    stream.resume()
  }
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read < bytesPerTurn || stream.isPaused()) return
    stream.pause()
    setImmediate(goOn)
  })
}
