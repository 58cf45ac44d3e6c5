import type { FastifyRequest } from 'fastify'

/** The origin in the browser, whose port may differ from that of the service. It may become part of a shell command. */
export function visitedAddress({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string {
  return `${protocol}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`
}
