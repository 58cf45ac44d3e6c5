/**
 * What the open connections of one client address may hold together: bytes in memory (received and not yet handled, sent
 * and not yet read) and subscriptions. A limit per connection alone would be multiplied by opening more of them.
 */
import { rateKey } from './limiter.ts'

export interface AddressBudgetOptions {
  maxBytes: number
  maxSubscriptions: number
}

export interface AddressBudgets {
  /** Starts the account of one connection. `onCutOff` must end the connection and close its share. */
  open(address: string, onCutOff: () => void): Share
}

interface Account {
  bytes: number
  subscriptions: number
  readonly shares: Set<Share>
}

export function createAddressBudgets(limits: AddressBudgetOptions): AddressBudgets {
  const accounts = new Map<string, Account>()
  return {
    open(address, onCutOff) {
      const key = rateKey(address)
      const account = accounts.get(key) ?? { bytes: 0, subscriptions: 0, shares: new Set() }
      accounts.set(key, account)
      const onClose = () => {
        if (account.shares.size === 0) accounts.delete(key)
      }
      const share = new Share({ key, account, limits, onCutOff, onClose })
      account.shares.add(share)
      return share
    },
  }
}

interface ShareOptions {
  key: string
  account: Account
  limits: AddressBudgetOptions
  onCutOff(): void
  onClose(): void
}

/** The part of its address's budgets that one connection takes. */
export class Share {
  /** The address as limits count it: IPv6 by /64. */
  readonly key: string
  readonly #options: ShareOptions
  #bytes = 0
  #subscriptions = 0
  #isClosed = false

  constructor(options: ShareOptions) {
    this.key = options.key
    this.#options = options
  }

  /**
   * Tells how many bytes the connection holds now. Over the budget the connection of the address that holds most is cut
   * off: behind a shared address that is the one that misbehaves, rather than whoever happens to come next.
   */
  hold(bytes: number): void {
    if (this.#isClosed || bytes === this.#bytes) return
    const { account, limits } = this.#options
    account.bytes += bytes - this.#bytes
    this.#bytes = bytes
    while (account.bytes > limits.maxBytes) {
      const largest = Share.#largestOf(account.shares)
      if (!largest) return
      largest.#options.onCutOff()
      largest.close()
    }
  }

  hasRoomFor(bytes: number): boolean {
    const { account, limits } = this.#options
    return account.bytes + bytes <= limits.maxBytes
  }

  /** Returns false where the address has as many subscriptions as it may. */
  addSubscription(): boolean {
    const { account, limits } = this.#options
    if (this.#isClosed || account.subscriptions >= limits.maxSubscriptions) return false
    this.#subscriptions += 1
    account.subscriptions += 1
    return true
  }

  removeSubscription(): void {
    if (this.#isClosed) return
    this.#subscriptions -= 1
    this.#options.account.subscriptions -= 1
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { account, onClose } = this.#options
    account.bytes -= this.#bytes
    account.subscriptions -= this.#subscriptions
    account.shares.delete(this)
    onClose()
  }

  static #largestOf(shares: Iterable<Share>): Share | undefined {
    let largest: Share | undefined
    for (const share of shares) if (!largest || share.#bytes > largest.#bytes) largest = share
    return largest
  }
}
