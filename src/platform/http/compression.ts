/** Compresses responses if the client accepts it and they are long enough. */
import { pipeline, type Readable, type Transform } from 'node:stream'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { guarded } from './http-errors.ts'
import { addVary } from './vary.ts'

/** About one network packet: compressing less gains nothing. */
const minBytes = 1024

type Compress = (body: string | Buffer, done: (error: Error | null, compressed: Buffer) => void) => void

// In order of preference. Both run on the thread pool, at levels that save more time than they cost.
const compressors = {
  br: (body, done) => brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, done),
  gzip: (body, done) => gzip(body, { level: 6 }, done),
} as const satisfies Record<string, Compress>

type Encoding = keyof typeof compressors

const encodings = Object.keys(compressors)

// A stream holds its compressor as long as the client reads, so windows are small; the levels are the fastest.
const streamCompressors = {
  br: () =>
    createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 16 } }),
  gzip: () => createGzip({ level: 1 }),
} as const satisfies Record<Encoding, () => Transform>

/** An onSend hook for routes with long responses. */
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
  // The response to HEAD must stay empty.
  if (encoding === undefined || request.method === 'HEAD') return payload
  markEncoded(reply, encoding)
  // `pipeline` destroys both streams on failure; the reader of the result receives the error.
  return pipeline(payload, streamCompressors[encoding](), () => {})
}

/** Missing in the types of negotiator: `preferred` decides between encodings of equal weight. */
interface EncodingNegotiator {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined
}

/** RFC 9110, 12.5.3. An encoding that is not listed is acceptable only by `*`. */
function chooseEncoding({ headers }: FastifyRequest): Encoding | undefined {
  const negotiator: EncodingNegotiator = new Negotiator({ headers })
  // The result is one of `encodings`.
  return negotiator.encoding(encodings, { preferred: encodings }) as Encoding | undefined
}

/** A strong ETag identifies bytes, so each encoding needs its own. `stripEncoding` removes the suffix. */
function markEncoded(reply: FastifyReply, encoding: Encoding): void {
  reply.header('content-encoding', encoding).removeHeader('content-length')
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string') reply.header('etag', etag.replace(/"$/, `+${encoding}"`))
}

export function stripEncoding(etag: string): string {
  return etag.replace(/\+(?:br|gzip)"$/, '"')
}
