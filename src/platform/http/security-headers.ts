/** What a browser must not do with our answers. A page that needs more sets its own policy. */
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface SecurityOptions {
  /** The service is reached over https only, so browsers may remember that. */
  isHttps: boolean
}

/** Answers the function that gives an answer its headers. The request id rides along: every answer carries it too. */
export function createSecurityHeaders({
  isHttps,
}: SecurityOptions): (request: FastifyRequest, reply: FastifyReply) => void {
  const headers: Record<string, string> = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(isHttps ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
  return (request, reply) => void reply.headers(headers).header('x-request-id', request.id)
}
