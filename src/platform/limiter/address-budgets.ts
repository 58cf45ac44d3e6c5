/**
 * What the open connections of one client address may hold together: bytes in memory (received and not yet handled, sent
 * and not yet read), subscriptions, and operations under way. A limit per connection alone would be multiplied by opening
 * more of them. A long answer over HTTP has a share of its own.
 */
import { rateKey } from './limiter.ts'

export interface AddressBudgetOptions {
  maxBytes: number
  maxSubscriptions: number
  /** Under way at once; the others wait. */
  maxOperations: number
}

export interface AddressBudgets {
  /** Starts the account of one connection. `onCutOff` must end the connection and close its share. */
  open(address: string, onCutOff: () => void): Share
}

interface Account {
  bytes: number
  subscriptions: number
  operations: number
  readonly shares: Set<Share>
  /** Those that wait for an operation to end, in their order. */
  readonly waiting: Map<Share, OnRoom>
}

/** Is called when there is room for an operation. Returns whether it is going to be used later. */
type OnRoom = () => boolean

export function createAddressBudgets(limits: AddressBudgetOptions): AddressBudgets {
  const accounts = new Map<string, Account>()
  return {
    open(address, onCutOff) {
      const key = rateKey(address)
      const account = accounts.get(key) ?? createAccount()
      accounts.set(key, account)
      const onClose = () => {
        if (account.shares.size === 0 && accounts.get(key) === account) accounts.delete(key)
      }
      const share = new Share({ key, account, limits, onCutOff, onClose })
      account.shares.add(share)
      return share
    },
  }
}

function createAccount(): Account {
  return { bytes: 0, subscriptions: 0, operations: 0, shares: new Set(), waiting: new Map() }
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
  #operations = 0
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
    this.#hold(bytes, undefined)
  }

  /** The same for what has to be sent in any case: over the budget others are cut off, however little they hold. */
  holdAnyway(bytes: number): void {
    this.#hold(bytes, this)
  }

  #hold(bytes: number, spared: Share | undefined): void {
    if (this.#isClosed || bytes === this.#bytes) return
    const { account, limits } = this.#options
    account.bytes += bytes - this.#bytes
    this.#bytes = bytes
    while (account.bytes > limits.maxBytes) {
      const largest = Share.#largestOf(account.shares, spared)
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

  /** Where it returns false, `onRoom` is called once there is room again. */
  hasRoomForOperation(onRoom: OnRoom): boolean {
    const { account, limits } = this.#options
    if (account.operations < limits.maxOperations) return true
    account.waiting.set(this, onRoom)
    return false
  }

  addOperation(): void {
    this.#operations += 1
    this.#options.account.operations += 1
  }

  /** Operations outlive their connection: what is under way ends when it ends. */
  removeOperation(): void {
    const { account, limits } = this.#options
    this.#operations -= 1
    account.operations -= 1
    let promised = 0
    // Those that find no room wait anew, behind the others.
    for (const [share, onRoom] of [...account.waiting]) {
      if (account.operations + promised >= limits.maxOperations) break
      // What one does with its room may cut off another one.
      if (account.waiting.delete(share) && onRoom()) promised += 1
    }
    this.#settle()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { account } = this.#options
    account.bytes -= this.#bytes
    account.subscriptions -= this.#subscriptions
    account.waiting.delete(this)
    this.#settle()
  }

  #settle(): void {
    const { account, onClose } = this.#options
    if (!this.#isClosed || this.#operations > 0) return
    account.shares.delete(this)
    onClose()
  }

  static #largestOf(shares: Iterable<Share>, spared: Share | undefined): Share | undefined {
    let largest: Share | undefined
    for (const share of shares) {
      if (share === spared || share.#isClosed) continue
      if (!largest || share.#bytes > largest.#bytes) largest = share
    }
    return largest
  }
}
