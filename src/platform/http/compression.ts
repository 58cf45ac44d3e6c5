/** Compresses an answer where the client asks for it and it pays. */
import { pipeline, type Readable, type Transform } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { guarded } from './http-errors.ts'
import { addVary } from './vary.ts'

/** About one network packet: what fits into it anyway gains nothing. */
const minBytes = 1024

type Compress = (body: string | Buffer, done: (error: Error | null, compressed: Buffer) => void) => void

// The best first. Both run on the thread pool, at levels that cost less time than they save.
const compressors = {
  br: (body, done) => brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, done),
  gzip: (body, done) => gzip(body, { level: 6 }, done),
} as const satisfies Record<string, Compress>

type Encoding = keyof typeof compressors

const encodings = Object.keys(compressors)

// A stream keeps its compressor for as long as its client reads, so its window is small; the levels are the quickest.
const streamCompressors = {
  br: () =>
    createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 16 } }),
  gzip: () => createGzip({ level: 1 }),
} as const satisfies Record<Encoding, () => Transform>

/** An onSend hook for the routes whose answers can be long. */
export function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  if (reply.statusCode === 304) addVary(reply, 'accept-encoding')
  if (isStream(payload)) {
    done(null, compressStream(request, reply, payload))
    return
  }
  if (!(typeof payload === 'string' || payload instanceof Buffer) || payload.length < minBytes) {
    done(null, payload)
    return
  }
  addVary(reply, 'accept-encoding')
  const encoding = chooseEncoding(request)
  if (encoding === undefined) {
    done(null, payload)
    return
  }
  compressors[encoding](payload, (error, compressed) =>
    guarded(request, reply, () => {
      if (error) return done(error)
      markEncoded(reply, encoding)
      done(null, compressed)
    }),
  )
}

function isStream(payload: unknown): payload is Readable {
  return typeof (payload as Readable | undefined)?.pipe === 'function'
}

function compressStream(request: FastifyRequest, reply: FastifyReply, payload: Readable): Readable {
  addVary(reply, 'accept-encoding')
  const encoding = chooseEncoding(request)
  // What a HEAD request is answered with is empty, and stays so.
  if (encoding === undefined || request.method === 'HEAD') return payload
  markEncoded(reply, encoding)
  // Whichever ends first ends the other; whoever reads the result learns of a failure.
  return pipeline(payload, streamCompressors[encoding](), () => {})
}

/** What the types of negotiator leave out: which wins where the client likes several equally. */
interface EncodingNegotiator {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined
}

/** RFC 9110, 12.5.3. What is not named is acceptable only by `*`. */
function chooseEncoding({ headers }: FastifyRequest): Encoding | undefined {
  const negotiator: EncodingNegotiator = new Negotiator({ headers })
  // It returns one of those that it is given.
  return negotiator.encoding(encodings, { preferred: encodings }) as Encoding | undefined
}

/** A strong ETag stands for bytes, and these are others. `stripEncoding` takes the mark off again. */
function markEncoded(reply: FastifyReply, encoding: Encoding): void {
  reply.header('content-encoding', encoding).removeHeader('content-length')
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string') reply.header('etag', etag.replace(/"$/, `+${encoding}"`))
}

export function stripEncoding(etag: string): string {
  return etag.replace(/\+(?:br|gzip)"$/, '"')
}
