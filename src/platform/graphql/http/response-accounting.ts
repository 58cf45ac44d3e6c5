/**
 * Counts long responses towards the address's memory budget, shared with its sockets and event streams, until they are
 * read: a client that requests much and reads nothing holds no more than that.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf } from '../../http/client.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { onResponseEnd } from '../../http/response-end.ts'
import type { AddressBudgets } from '../../limiter/address-budgets.ts'

/** Shorter responses take no more memory than their connection. */
const uncountedCharacters = 16 * 1024

export interface AccountedResponse {
  text: string
  /** A mutation that has been executed must be reported as such, even beyond the budget. */
  isOfMutation: boolean
}

export function createResponseAccounting(budgets: AddressBudgets) {
  /** Call before the response is sent. Throws if the budget is exceeded. */
  return (request: FastifyRequest, reply: FastifyReply, { text, isOfMutation }: AccountedResponse): void => {
    if (text.length <= uncountedCharacters) return
    const bytes = Buffer.byteLength(text)
    const share = budgets.open(addressOf(request), () => {
      request.log.info('a connection was cut off: its address holds too many bytes')
      request.raw.socket.destroy()
    })
    if (isOfMutation) share.holdAnyway(bytes)
    else if (share.hasRoomFor(bytes)) share.hold(bytes)
    else {
      share.close()
      throw httpErrors.unavailable()
    }
    onResponseEnd(reply.raw, () => share.close())
  }
}
