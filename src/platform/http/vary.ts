import type { FastifyReply } from 'fastify'

export function addVary(reply: FastifyReply, header: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? header : `${before}, ${header}`)
}
