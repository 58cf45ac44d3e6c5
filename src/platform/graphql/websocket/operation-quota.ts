/** Limits the subscriptions of one socket, and counts the bytes that its operations hold. */
import type { Share } from '../../limiter/address-budgets.ts'
import { addressHasTooManySubscriptions, tooManySubscriptions } from '../execution/refused-request.ts'

interface Reservation {
  readonly isSubscription: boolean
  /** The length of its message in bytes. */
  readonly size: number
}

/** Per address. At the limit nothing is read from its sockets until an operation has completed. */
export const maxRunningOperations = 50

/** Total length of the messages of open subscriptions: parsed requests are kept as long as the subscriptions. */
const maxSubscriptionBytes = 128 * 1024

export class OperationQuota {
  /** Total length of the messages of all operations that have not ended. */
  heldBytes = 0
  readonly #share: Share
  readonly #maxSubscriptions: number
  #subscriptions = 0
  #subscriptionBytes = 0

  constructor(share: Share, maxSubscriptions: number) {
    this.#share = share
    this.#maxSubscriptions = maxSubscriptions
  }

  /** Throws RefusedRequest beyond a limit. */
  reserve({ isSubscription, size }: Reservation): void {
    if (isSubscription) {
      this.#reserveSubscription(size)
      this.#subscriptions += 1
      this.#subscriptionBytes += size
    }
    this.heldBytes += size
  }

  release({ isSubscription, size }: Reservation): void {
    this.heldBytes -= size
    if (!isSubscription) return
    this.#subscriptions -= 1
    this.#subscriptionBytes -= size
    this.#share.removeSubscription()
  }

  #reserveSubscription(size: number): void {
    if (this.#subscriptions >= this.#maxSubscriptions)
      throw tooManySubscriptions(`A socket may have ${this.#maxSubscriptions} subscriptions at once`)
    if (this.#subscriptionBytes + size > maxSubscriptionBytes)
      throw tooManySubscriptions(`The subscriptions of a socket may have ${maxSubscriptionBytes} bytes together`)
    if (!this.#share.hasRoomFor(size) || !this.#share.addSubscription()) throw addressHasTooManySubscriptions()
  }
}
