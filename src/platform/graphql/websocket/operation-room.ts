/** How much the operations of one socket may take together, and what they have taken. */
import type { Share } from '../../limiter/address-budgets.ts'
import { addressHasTooManySubscriptions, tooManySubscriptions } from '../execution/refused-request.ts'

/** An operation, as far as it takes room. */
interface Taker {
  readonly isSubscription: boolean
  /** The length of the message that asked for it. */
  readonly size: number
}

/** Of the operations of one address. One that asks for more at once is not read from until some of it is done. */
export const maxUnderWay = 50

/** Of the messages that asked for the open subscriptions together: what is made of them is kept as long as they are. */
const maxKeptSize = 128 * 1024

export class OperationRoom {
  /** Of the messages whose operations are not over. */
  heldBytes = 0
  readonly #share: Share
  readonly #maxSubscriptions: number
  #subscriptions = 0
  #keptSize = 0

  constructor(share: Share, maxSubscriptions: number) {
    this.#share = share
    this.#maxSubscriptions = maxSubscriptions
  }

  /** Throws RefusedRequest where there is no room. */
  take({ isSubscription, size }: Taker): void {
    if (isSubscription) {
      this.#takeSubscription(size)
      this.#subscriptions += 1
      this.#keptSize += size
    }
    this.heldBytes += size
  }

  giveBack({ isSubscription, size }: Taker): void {
    this.heldBytes -= size
    if (!isSubscription) return
    this.#subscriptions -= 1
    this.#keptSize -= size
    this.#share.removeSubscription()
  }

  #takeSubscription(size: number): void {
    if (this.#subscriptions >= this.#maxSubscriptions)
      throw tooManySubscriptions(`A socket may have ${this.#maxSubscriptions} subscriptions at once`)
    if (this.#keptSize + size > maxKeptSize)
      throw tooManySubscriptions(`The subscriptions of a socket may have ${maxKeptSize} bytes together`)
    if (!this.#share.hasRoomFor(size) || !this.#share.addSubscription()) throw addressHasTooManySubscriptions()
  }
}
