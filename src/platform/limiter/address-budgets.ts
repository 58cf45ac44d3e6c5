/**
 * Budgets of one client address, shared by all its connections: bytes in memory (received and not yet handled, sent and
 * not yet read), subscriptions, and running operations. Limits per connection alone could be multiplied by opening more
 * connections. A long HTTP response counts as a connection.
 */
import type { ConnectionsPerAddress } from './connections-per-address.ts'
import { rateKey } from './limiter.ts'

export interface AddressBudgetOptions {
  /** In this thread. */
  maxBytes: number
  subscriptions: ConnectionsPerAddress
  /** Running at once in this thread; further ones wait. */
  maxOperations: number
}

export interface AddressBudgets {
  /** Opens the share of one connection. `onCutOff` must end the connection and close its share. */
  open(address: string, onCutOff: () => void): Share
}

interface AddressUsage {
  bytes: number
  operations: number
  readonly shares: Set<Share>
  /** Shares that wait for an operation to end, in order. */
  readonly waiting: Map<Share, OnRoom>
}

/** Called when an operation may start. Returns true if it will start one later, which reserves the slot. */
type OnRoom = () => boolean

export function createAddressBudgets(limits: AddressBudgetOptions): AddressBudgets {
  const usages = new Map<string, AddressUsage>()
  return {
    open(address, onCutOff) {
      const key = rateKey(address)
      const usage = usages.get(key) ?? createUsage()
      usages.set(key, usage)
      const onClose = () => {
        if (usage.shares.size === 0 && usages.get(key) === usage) usages.delete(key)
      }
      const share = new Share({ key, usage, limits, onCutOff, onClose })
      usage.shares.add(share)
      return share
    },
  }
}

function createUsage(): AddressUsage {
  return { bytes: 0, operations: 0, shares: new Set(), waiting: new Map() }
}

interface ShareOptions {
  key: string
  usage: AddressUsage
  limits: AddressBudgetOptions
  onCutOff(): void
  onClose(): void
}

/** What one connection uses of its address's budgets. */
export class Share {
  /** The address, IPv6 by /64. */
  readonly key: string
  readonly #options: ShareOptions
  #bytes = 0
  /** Each releases one subscription. */
  readonly #subscriptions: (() => void)[] = []
  #operations = 0
  #isClosed = false

  constructor(options: ShareOptions) {
    this.key = options.key
    this.#options = options
  }

  /**
   * Sets the bytes that the connection holds now. Over the budget, the largest connection of the address is cut off: behind
   * a shared address that is the misbehaving one, not the one that happens to exceed the limit.
   */
  hold(bytes: number): void {
    this.#hold(bytes, undefined)
  }

  /** Like `hold`, but never cuts off this connection; over the budget, others are cut off. */
  holdAnyway(bytes: number): void {
    this.#hold(bytes, this)
  }

  #hold(bytes: number, spared: Share | undefined): void {
    if (this.#isClosed || bytes === this.#bytes) return
    const { usage, limits } = this.#options
    usage.bytes += bytes - this.#bytes
    this.#bytes = bytes
    while (usage.bytes > limits.maxBytes) {
      const largest = Share.#largestOf(usage.shares, spared)
      if (!largest) return
      largest.#options.onCutOff()
      largest.close()
    }
  }

  hasRoomFor(bytes: number): boolean {
    const { usage, limits } = this.#options
    return usage.bytes + bytes <= limits.maxBytes
  }

  /** Returns false if the address has reached its limit. */
  addSubscription(): boolean {
    const release = this.#isClosed ? undefined : this.#options.limits.subscriptions.enter(this.key)
    if (!release) return false
    this.#subscriptions.push(release)
    return true
  }

  removeSubscription(): void {
    this.#subscriptions.pop()?.()
  }

  /** If it returns false, `onRoom` is called once an operation may start. */
  hasRoomForOperation(onRoom: OnRoom): boolean {
    const { usage, limits } = this.#options
    if (usage.operations < limits.maxOperations) return true
    usage.waiting.set(this, onRoom)
    return false
  }

  addOperation(): void {
    this.#operations += 1
    this.#options.usage.operations += 1
  }

  /** A running operation counts until it ends, even if its connection has closed. */
  removeOperation(): void {
    const { usage, limits } = this.#options
    this.#operations -= 1
    usage.operations -= 1
    let promised = 0
    // A share that finds no room queues again behind the others.
    for (const [share, onRoom] of [...usage.waiting]) {
      if (usage.operations + promised >= limits.maxOperations) break
      // A callback may cut off another waiting connection, so membership is checked again.
      if (usage.waiting.delete(share) && onRoom()) promised += 1
    }
    this.#settle()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { usage } = this.#options
    usage.bytes -= this.#bytes
    for (const release of this.#subscriptions.splice(0)) release()
    usage.waiting.delete(this)
    this.#settle()
  }

  #settle(): void {
    const { usage, onClose } = this.#options
    if (!this.#isClosed || this.#operations > 0) return
    usage.shares.delete(this)
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
