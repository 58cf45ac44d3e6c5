/**
 * Shares a few slots fairly between clients. A free slot goes to the client with the fewest running entries, and among
 * equals to the one served longest ago, so a client that floods the queue only delays itself.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Entry, FairLines, type FairLinesOptions, type Ticket } from './fair-lines.ts'

export interface FairQueueOptions extends FairLinesOptions {
  atOnce: number
}

export interface FairQueue {
  run<T>(ticket: Ticket, work: () => Promise<T>): Promise<T>
  /** Refuses everything that waits, and every later call. */
  close(): void
  counts(): { clients: number; waiting: number }
  running(): number
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { atOnce, full } = options
  const lines = new FairLines(options)
  let running = 0
  let isClosed = false

  function fill(): void {
    while (running < atOnce) {
      const taken = lines.take()
      if (!taken) return
      const { line, entry } = taken
      running += 1
      line.running += 1
      void entry.start().then(() => {
        running -= 1
        line.running -= 1
        lines.moveBack(line)
        fill()
      })
    }
  }

  return {
    run(ticket, work) {
      if (isClosed) return Promise.reject(full())
      const line = lines.of(ticket.client)
      if (running >= atOnce && !ticket.isBegun && !lines.makeRoom(line)) return Promise.reject(full())
      // It is started by whoever leaves the slot, but belongs to the caller.
      const inContext = AsyncLocalStorage.snapshot()
      return new Promise((resolve, reject) => {
        let stopListening = () => {}
        const entry: Entry = {
          ticket,
          async start() {
            stopListening()
            try {
              resolve(await inContext(work))
            } catch (error) {
              reject(error)
            }
          },
          reject(error) {
            stopListening()
            reject(error)
          },
        }
        lines.push(line, entry)
        fill()
        if (line.urgent.includes(entry) || line.other.includes(entry)) {
          stopListening = ticket.onGone?.(() => lines.drop(line, entry)) ?? stopListening
        }
      })
    },

    close() {
      isClosed = true
      lines.refuseAll()
    },

    counts: () => ({ clients: lines.clients, waiting: lines.waiting }),
    running: () => running,
  }
}
