/**
 * Shares a few slots between clients. Each client has a line of its own, so one that floods the queue delays itself
 * alone: a free slot goes to the client with the fewest running, and among equals to the one served longest ago.
 */
import { FairLines, type FairLinesOptions, type Ticket } from './fair-lines.ts'

export interface FairQueueOptions extends FairLinesOptions {
  atOnce: number
}

export interface FairQueue {
  run<T>(ticket: Ticket, work: () => Promise<T>): Promise<T>
  /** Refuses what waits, and all that comes later. */
  close(): void
  /** How many clients have a line, and how many entries wait in all of them. */
  counts(): { clients: number; waiting: number }
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
      return new Promise((resolve, reject) => {
        const start = async () => {
          try {
            resolve(await work())
          } catch (error) {
            reject(error)
          }
        }
        lines.push(line, { ticket, start, reject })
        fill()
      })
    },

    close() {
      isClosed = true
      lines.refuseAll()
    },

    counts: () => ({ clients: lines.clients, waiting: lines.waiting }),
  }
}
