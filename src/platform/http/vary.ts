import type { FastifyReply } from 'fastify'

/** Tells caches that the answer depends on this header of the request too. */
export function addVary(reply: FastifyReply, header: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? header : `${before}, ${header}`)
}
