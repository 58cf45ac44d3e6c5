/**
 * Receives large bodies into memory that is bounded for each client and in all, in this thread. Beyond a bound, the body
 * that has been arriving for longest is cut off: a client that sends slowly holds back nobody else.
 */
import type { IncomingMessage } from 'node:http'
import { httpErrors } from './http-errors.ts'

export interface BodyBudgetOptions {
  maxBodyBytes: number
  /** Of the bodies of one client that are arriving or in use. */
  maxClientBytes: number
  maxBytes: number
}

export interface ReceivedBody {
  bytes: Uint8Array<ArrayBuffer>
  /** Call when the bytes are no longer used: they count until then, and are gone afterwards. */
  release(): void
}

export interface BodyBudget {
  /** `client` is an address, or whatever else shares a bound. Rejects with an AppError. */
  receive(request: IncomingMessage, client: string): Promise<ReceivedBody>
}

interface HeldBody {
  client: string
  heldBytes: number
  /** Undefined once the body has arrived. */
  cutOff: (() => void) | undefined
}

/** Memory is added in such pieces. */
const stepBytes = 64 * 1024

export function createBodyBudget({ maxBodyBytes, maxClientBytes, maxBytes }: BodyBudgetOptions): BodyBudget {
  /** In the order in which they began. */
  const bodies = new Set<HeldBody>()

  function requireRoom({ client }: HeldBody): void {
    cutOffOldest((body) => body.client === client, maxClientBytes)
    cutOffOldest(() => true, maxBytes)
  }

  function cutOffOldest(counts: (body: HeldBody) => boolean, max: number): void {
    let held = 0
    for (const body of bodies) if (counts(body)) held += body.heldBytes
    for (const body of bodies) {
      if (held <= max) return
      if (!body.cutOff || !counts(body)) continue
      held -= body.heldBytes
      body.cutOff()
    }
  }

  return {
    receive: (request, client) =>
      new Promise((resolve, reject) => {
        // Grows in place, and is given back at once: copies would be garbage, for long and of many megabytes.
        const memory = new ArrayBuffer(stepBytes, { maxByteLength: maxBodyBytes })
        let length = 0

        function end(): void {
          request.off('data', take).off('end', complete).off('error', fail).off('close', lose)
          body.cutOff = undefined
        }
        function release(): void {
          bodies.delete(body)
          // Unless it was given to a thread.
          if (!memory.detached) memory.transfer(0)
        }
        function fail(error: Error): void {
          end()
          release()
          // The client can read a response only if the rest is read too.
          request.resume()
          reject(error)
        }
        const lose = () => fail(httpErrors.malformedBody())
        function take(chunk: Buffer): void {
          const needed = length + chunk.length
          if (needed > maxBodyBytes) {
            fail(httpErrors.bodyTooLarge())
            return
          }
          if (needed > memory.byteLength) {
            memory.resize(Math.min(needed + stepBytes, maxBodyBytes))
            body.heldBytes = memory.byteLength
            requireRoom(body)
            if (!body.cutOff) return
          }
          new Uint8Array(memory).set(chunk, length)
          length = needed
        }
        function complete(): void {
          end()
          resolve({ bytes: new Uint8Array(memory, 0, length), release })
        }
        const body: HeldBody = { client, heldBytes: stepBytes, cutOff: () => fail(httpErrors.unavailable()) }

        bodies.add(body)
        if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
          fail(httpErrors.bodyTooLarge())
          return
        }
        request.on('data', take).once('end', complete).once('error', fail).once('close', lose)
        requireRoom(body)
      }),
  }
}
