/** Those who wait in a fair queue, each client in a line of its own, and whose turn is next. */

export interface Ticket {
  /** Whose line it waits in. */
  client: string
  /** Urgent work goes first, as long as it does not starve the rest. */
  isUrgent: boolean
  /** Asked before the work begins: nobody computes an answer that nobody reads. */
  isGone?(): boolean
  /** Goes on with what was begun in an earlier turn: it waits for as long as it takes and is never refused. */
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
  /** Waiting entries of all clients. Beyond it the longest line loses its last entry, so a flood is paid by who makes it. */
  maxWaiting: number
  /** What a refused entry is rejected with. */
  full(): Error
  /** What an entry is rejected with whose client has gone. */
  gone(): Error
}

type Kind = 'urgent' | 'other'

/** Of so many turns in a row the last goes to the rest, where any waits. */
const urgentInARow = 3

export class FairLines {
  readonly #options: FairLinesOptions
  /** Whose turn is next comes first. */
  readonly #lines = new Map<string, Line>()
  readonly #waiting = { urgent: 0, other: 0 }
  #urgentTurns = 0

  constructor(options: FairLinesOptions) {
    this.#options = options
  }

  /** How many clients have a line. */
  get clients(): number {
    return this.#lines.size
  }

  /** How many entries wait in all lines. */
  get waiting(): number {
    return this.#waiting.urgent + this.#waiting.other
  }

  /** The line of a client, which may be a new one. */
  of(client: string): Line {
    return this.#lines.get(client) ?? { client, urgent: [], other: [], running: 0 }
  }

  push(line: Line, entry: Entry): void {
    const kind = entry.ticket.isUrgent ? 'urgent' : 'other'
    line[kind].push(entry)
    this.#waiting[kind] += 1
    // A line that is there already keeps its place.
    this.#lines.set(line.client, line)
  }

  /** Takes whose turn it is. Undefined where nobody waits. */
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

  /** Behind those who came meanwhile: it has been served. */
  moveBack(line: Line): void {
    this.#lines.delete(line.client)
    if (!isIdle(line)) this.#lines.set(line.client, line)
  }

  /** Whether one more entry may wait in that line. */
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

  /** Returns false where all of the line has begun. */
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
