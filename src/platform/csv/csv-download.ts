/** Sends a list as a CSV file, as fast as the client reads. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onResponseEnd } from '../http/response-end.ts'
import { type CsvCell, csvText } from './csv-text.ts'

export interface CsvDownload {
  /** Without the extension. */
  name: string
  head: readonly string[]
  /** Closed when the client is gone. */
  batches: AsyncGenerator<readonly (readonly CsvCell[])[]>
}

export async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, head, batches }: CsvDownload,
): Promise<FastifyReply> {
  // Fastify would read the whole stream only to discard it.
  if (request.method === 'HEAD') return asCsv(reply, name).send(Readable.from([]))
  const texts = write(head, batches)
  onResponseEnd(reply.raw, () => void texts.return(undefined))
  // Errors of the first read become an error page; later ones can only end the connection.
  const first = await texts.next()
  return asCsv(reply, name).send(
    Readable.from(prepend(first.value ?? '', texts), { objectMode: false, highWaterMark: 1 }),
  )
}

function asCsv(reply: FastifyReply, name: string): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .header('cache-control', 'no-store')
}

async function* write(head: readonly string[], batches: CsvDownload['batches']): AsyncGenerator<string, undefined> {
  let before = csvText([head])
  for await (const rows of batches) {
    yield before + csvText(rows)
    before = ''
  }
  if (before !== '') yield before
  return undefined
}

async function* prepend(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first !== '') yield first
  yield* rest
}
