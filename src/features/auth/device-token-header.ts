/** `x-device-token`: how programs keep and present what makes their device known. Browsers have a cookie for it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SignedIn } from './login-completion.ts'

const header = 'x-device-token'

export function deviceTokenOf({ headers }: FastifyRequest): string | undefined {
  const token = headers[header]
  return typeof token === 'string' ? token : undefined
}

export function withDeviceToken(reply: FastifyReply, { deviceToken }: Pick<SignedIn, 'deviceToken'>): FastifyReply {
  return deviceToken === undefined ? reply : reply.header(header, deviceToken)
}
