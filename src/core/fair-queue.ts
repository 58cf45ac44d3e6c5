/**
 * Shares a few slots between clients. Each client has a line of its own, so one that floods the queue delays itself
 * alone: a free slot goes to the client with the fewest running, and among equals to the one served longest ago.
 */

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

export interface FairQueueOptions {
  atOnce: number
  /** Waiting entries of one client; the next one is refused. */
  maxPerClient: number
  /** Waiting entries of all clients. Beyond it the longest line loses its last entry, so a flood is paid by who makes it. */
  maxWaiting: number
  /** What a refused entry is rejected with. */
  full(): Error
  /** What an entry is rejected with whose client has gone. */
  gone(): Error
}

export interface FairQueue {
  run<T>(ticket: Ticket, work: () => Promise<T>): Promise<T>
  /** Refuses what waits, and all that comes later. */
  close(): void
  /** How many clients have a line, and how many entries wait in all of them. */
  counts(): { clients: number; waiting: number }
}

interface Entry {
  ticket: Ticket
  start(): Promise<void>
  reject(reason: Error): void
}

/** Exists while the client has something waiting or running. */
interface Line {
  urgent: Entry[]
  other: Entry[]
  running: number
}

/** Of so many turns in a row the last goes to the rest, where any waits. */
const urgentInARow = 3

export function createFairQueue({ atOnce, maxPerClient, maxWaiting, full, gone }: FairQueueOptions): FairQueue {
  /** Whose turn is next comes first. */
  const lines = new Map<string, Line>()
  const waiting = { urgent: 0, other: 0 }
  let running = 0
  let urgentTurns = 0
  let isClosed = false

  type Kind = keyof typeof waiting

  function fill(): void {
    while (running < atOnce) {
      const taken = take()
      if (!taken) return
      const { client, line, entry } = taken
      running += 1
      line.running += 1
      void entry.start().then(() => {
        running -= 1
        line.running -= 1
        // Behind those who came meanwhile: it has been served.
        lines.delete(client)
        if (!isIdle(line)) lines.set(client, line)
        fill()
      })
    }
  }

  function take(): { client: string; line: Line; entry: Entry } | undefined {
    while (waiting.urgent + waiting.other > 0) {
      const isOthersTurn = waiting.urgent === 0 || (waiting.other > 0 && urgentTurns >= urgentInARow)
      const kind = isOthersTurn ? 'other' : 'urgent'
      const [client, line] = findNext(kind)
      const entry = line[kind].shift() as Entry
      waiting[kind] -= 1
      if (entry.ticket.isGone?.()) {
        if (isIdle(line)) lines.delete(client)
        entry.reject(gone())
        continue
      }
      urgentTurns = isOthersTurn ? 0 : urgentTurns + 1
      return { client, line, entry }
    }
    return undefined
  }

  function findNext(kind: Kind): [string, Line] {
    let found: [string, Line] | undefined
    for (const each of lines) {
      const [, line] = each
      if (line[kind].length === 0 || (found && found[1].running <= line.running)) continue
      found = each
      if (line.running === 0) break
    }
    return found as [string, Line]
  }

  /** Whether one more entry may wait in that line. */
  function makeRoom(line: Line): boolean {
    if (lengthOf(line) >= maxPerClient) dropGone([line])
    if (lengthOf(line) >= maxPerClient) return false
    if (waiting.urgent + waiting.other < maxWaiting) return true
    dropGone([...lines.values()])
    if (waiting.urgent + waiting.other < maxWaiting) return true
    const longest = [...lines.values()].reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a))
    return lengthOf(longest) > lengthOf(line) + 1 && refuseLast(longest)
  }

  /** Returns false where all of the line has begun. */
  function refuseLast(line: Line): boolean {
    for (const kind of ['other', 'urgent'] as const) {
      const last = line[kind].findLastIndex(({ ticket }) => !ticket.isBegun)
      if (last === -1) continue
      waiting[kind] -= 1
      line[kind].splice(last, 1)[0]?.reject(full())
      return true
    }
    return false
  }

  function dropGone(some: readonly Line[]): void {
    for (const line of some) {
      for (const kind of ['urgent', 'other'] as const) {
        const [left, dropped] = [[] as Entry[], [] as Entry[]]
        for (const entry of line[kind]) (entry.ticket.isGone?.() ? dropped : left).push(entry)
        line[kind] = left
        waiting[kind] -= dropped.length
        for (const entry of dropped) entry.reject(gone())
      }
    }
    for (const [client, line] of lines) if (isIdle(line)) lines.delete(client)
  }

  return {
    run(ticket, work) {
      if (isClosed) return Promise.reject(full())
      const line = lines.get(ticket.client) ?? { urgent: [], other: [], running: 0 }
      if (running >= atOnce && !ticket.isBegun && !makeRoom(line)) return Promise.reject(full())
      return new Promise((resolve, reject) => {
        const start = async () => {
          try {
            resolve(await work())
          } catch (error) {
            reject(error)
          }
        }
        const kind = ticket.isUrgent ? 'urgent' : 'other'
        line[kind].push({ ticket, start, reject })
        waiting[kind] += 1
        // A line that is there already keeps its place.
        lines.set(ticket.client, line)
        fill()
      })
    },

    close() {
      isClosed = true
      const all = [...lines.values()].flatMap((line) => [...line.urgent.splice(0), ...line.other.splice(0)])
      waiting.urgent = 0
      waiting.other = 0
      for (const entry of all) entry.reject(full())
    },

    counts: () => ({ clients: lines.size, waiting: waiting.urgent + waiting.other }),
  }
}

function lengthOf({ urgent, other }: Line): number {
  return urgent.length + other.length
}

function isIdle(line: Line): boolean {
  return line.running === 0 && lengthOf(line) === 0
}
