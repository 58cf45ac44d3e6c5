/** The waiting entries of a fair queue: one line per client, and the order in which the lines are served. */

export interface Ticket {
  client: string
  /** Urgent work is served first, but never starves the rest. */
  isUrgent: boolean
  /** Checked before the work starts, so that nothing is computed for a client that has disconnected. */
  isGone?(): boolean
  /** Calls the listener when the client disconnects, so that waiting work is dropped at once. Returns its removal. */
  onGone?(listener: () => void): () => void
  /** Continues earlier work: it may wait without limit and is never refused. */
  isBegun?: boolean
}

export interface Entry {
  ticket: Ticket
  start(): Promise<void>
  reject(reason: Error): void
}

/** Exists while the client has something waiting or running. */
export interface Line {
  readonly client: string
  urgent: Entry[]
  other: Entry[]
  running: number
}

export interface FairLinesOptions {
  /** Waiting entries of one client; the next one is refused. */
  maxPerClient: number
  /** Waiting entries of all clients. Beyond it the longest line loses its last entry, so a flood hurts its sender. */
  maxWaiting: number
  /** Creates the error for a refused entry. */
  full(): Error
  /** Creates the error for an entry whose client has disconnected. */
  gone(): Error
}

type Kind = 'urgent' | 'other'

/** After so many urgent entries in a row, one other entry is served if any waits. */
const urgentInARow = 3

export class FairLines {
  readonly #options: FairLinesOptions
  /** In serving order: the line served longest ago comes first. */
  readonly #lines = new Map<string, Line>()
  readonly #waiting = { urgent: 0, other: 0 }
  #urgentTurns = 0

  constructor(options: FairLinesOptions) {
    this.#options = options
  }

  get clients(): number {
    return this.#lines.size
  }

  get waiting(): number {
    return this.#waiting.urgent + this.#waiting.other
  }

  /** Returns the client's line, or a new one that `push` will add. */
  of(client: string): Line {
    return this.#lines.get(client) ?? { client, urgent: [], other: [], running: 0 }
  }

  push(line: Line, entry: Entry): void {
    const kind = entry.ticket.isUrgent ? 'urgent' : 'other'
    line[kind].push(entry)
    this.#waiting[kind] += 1
    // Setting an existing key of a Map keeps its position.
    this.#lines.set(line.client, line)
  }

  /** Removes and returns the next entry to serve. Entries of disconnected clients are rejected on the way. */
  take(): { line: Line; entry: Entry } | undefined {
    while (this.waiting > 0) {
      const isOthersTurn = this.#waiting.urgent === 0 || (this.#waiting.other > 0 && this.#urgentTurns >= urgentInARow)
      const kind = isOthersTurn ? 'other' : 'urgent'
      const line = this.#findNext(kind)
      const entry = line[kind].shift() as Entry
      this.#waiting[kind] -= 1
      if (entry.ticket.isGone?.()) {
        if (isIdle(line)) this.#lines.delete(line.client)
        entry.reject(this.#options.gone())
        continue
      }
      this.#urgentTurns = isOthersTurn ? 0 : this.#urgentTurns + 1
      return { line, entry }
    }
    return undefined
  }

  /** Moves a line that has just been served to the end. */
  moveBack(line: Line): void {
    this.#lines.delete(line.client)
    if (!isIdle(line)) this.#lines.set(line.client, line)
  }

  /** Returns whether one more entry may wait in the line, after dropping or refusing others if needed. */
  makeRoom(line: Line): boolean {
    const { maxPerClient, maxWaiting } = this.#options
    if (lengthOf(line) >= maxPerClient) this.#dropGone([line])
    if (lengthOf(line) >= maxPerClient) return false
    if (this.waiting < maxWaiting) return true
    this.#dropGone([...this.#lines.values()])
    if (this.waiting < maxWaiting) return true
    const longest = [...this.#lines.values()].reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a))
    return lengthOf(longest) > lengthOf(line) + 1 && this.#refuseLast(longest)
  }

  /** Rejects one that waits. */
  drop(line: Line, entry: Entry): void {
    for (const kind of ['urgent', 'other'] as const) {
      const place = line[kind].indexOf(entry)
      if (place === -1) continue
      line[kind].splice(place, 1)
      this.#waiting[kind] -= 1
      if (isIdle(line)) this.#lines.delete(line.client)
      entry.reject(this.#options.gone())
    }
  }

  refuseAll(): void {
    const all = [...this.#lines.values()].flatMap((line) => [...line.urgent.splice(0), ...line.other.splice(0)])
    this.#waiting.urgent = 0
    this.#waiting.other = 0
    for (const entry of all) entry.reject(this.#options.full())
  }

  #findNext(kind: Kind): Line {
    let found: Line | undefined
    for (const line of this.#lines.values()) {
      if (line[kind].length === 0 || (found && found.running <= line.running)) continue
      found = line
      if (line.running === 0) break
    }
    return found as Line
  }

  /** Returns false if every entry of the line continues earlier work. */
  #refuseLast(line: Line): boolean {
    for (const kind of ['other', 'urgent'] as const) {
      const last = line[kind].findLastIndex(({ ticket }) => !ticket.isBegun)
      if (last === -1) continue
      this.#waiting[kind] -= 1
      line[kind].splice(last, 1)[0]?.reject(this.#options.full())
      return true
    }
    return false
  }

  #dropGone(some: readonly Line[]): void {
    for (const line of some) {
      for (const kind of ['urgent', 'other'] as const) {
        const [left, dropped] = [[] as Entry[], [] as Entry[]]
        for (const entry of line[kind]) (entry.ticket.isGone?.() ? dropped : left).push(entry)
        line[kind] = left
        this.#waiting[kind] -= dropped.length
        for (const entry of dropped) entry.reject(this.#options.gone())
      }
    }
    for (const line of this.#lines.values()) if (isIdle(line)) this.#lines.delete(line.client)
  }
}

function lengthOf({ urgent, other }: Line): number {
  return urgent.length + other.length
}

function isIdle(line: Line): boolean {
  return line.running === 0 && lengthOf(line) === 0
}
