/** COPY … FROM STDIN over a connection of pg, which knows the messages but has no query for them. */
import type { Socket } from 'node:net'
import type pg from 'pg'

/** What pg calls on the query that is under way. */
interface CopyQuery {
  submit(connection: CopyConnection): void
  handleCopyInResponse(connection: CopyConnection): void
  handleCommandComplete(): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

interface CopyConnection {
  stream: Socket
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): boolean
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

const chunkLength = 64 * 1024

/** Resolves when the server has stored all lines. */
export async function copyFrom(client: pg.Client, sql: string, lines: AsyncIterable<string>): Promise<void> {
  let start: (connection: CopyConnection) => void = () => {}
  const started = new Promise<CopyConnection>((resolve) => (start = resolve))
  let failure: Error | undefined
  const ended = new Promise<void>((resolve, reject) => {
    const query: CopyQuery = {
      submit: (connection) => connection.query(sql),
      handleCopyInResponse: start,
      handleCommandComplete: () => {},
      handleReadyForQuery: () => (failure ? reject(failure) : resolve()),
      handleError(error) {
        failure ??= error
        reject(error)
      },
    }
    // pg takes any object with these methods; its types name only its own.
    client.query(query as unknown as pg.Submittable)
  })
  // Reported below, by whoever waits first.
  ended.catch(() => {})
  const connection = await Promise.race([started, ended.then(() => undefined)])
  if (!connection) return
  try {
    let text = ''
    for await (const line of lines) {
      if (failure) break
      text += line
      if (text.length < chunkLength) continue
      await send(connection, text, ended)
      text = ''
    }
    if (text !== '' && !failure) await send(connection, text, ended)
  } catch (error) {
    connection.sendCopyFail('the rows could not be read')
    await ended.catch(() => {})
    throw failure?.message.includes('the rows could not be read') ? error : (failure ?? error)
  }
  if (!failure) connection.endCopyFrom()
  await ended
}

async function send(connection: CopyConnection, text: string, ended: Promise<void>): Promise<void> {
  if (connection.sendCopyFromChunk(Buffer.from(text)) || connection.stream.writableLength < 1024 * 1024) return
  let onDrain = () => {}
  const drained = new Promise<void>((resolve) => {
    onDrain = resolve
    connection.stream.once('drain', onDrain)
  })
  await Promise.race([drained, ended]).finally(() => connection.stream.off('drain', onDrain))
}
