/**
 * Counts long answers until their clients have read them, in the budget that the sockets and event streams of their
 * address take from too: who asks for much and reads nothing holds no more than that.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onAnswerEnd } from '../../http/answer-end.ts'
import { addressOf } from '../../http/client.ts'
import { httpErrors } from '../../http/http-errors.ts'
import type { AddressBudgets } from '../../limiter/address-budgets.ts'

/** Up to here an answer takes no more memory than its connection does anyway. */
const uncountedCharacters = 16 * 1024

export interface HeldAnswer {
  text: string
  /** What a mutation has stored is answered as stored, whatever else is held. */
  isOfMutation: boolean
}

export function createHeldAnswers(budgets: AddressBudgets) {
  /** To be called before it is sent. Throws where there is no room for it. */
  return (request: FastifyRequest, reply: FastifyReply, { text, isOfMutation }: HeldAnswer): void => {
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
    onAnswerEnd(reply.raw, () => share.close())
  }
}
