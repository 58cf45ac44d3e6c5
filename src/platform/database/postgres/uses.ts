/** The connections that are lent, and how much of their answers has been read. */
import type pg from 'pg'
import { maxAnswerBytes } from '../database.ts'
import { streamOf } from './client.ts'

/** Whoever waits for the server. */
export interface Suspect {
  /** When the server is to be asked whether it is still at it. */
  suspectAt: number
  /** How often in a row the server knew nothing of the statement, or did not answer. */
  missed: number
}

export interface Use extends Suspect {
  deadline: number
  bytesRead: number
}

export const suspectAfterMs = 1500

export class Uses {
  readonly #uses = new Map<pg.ClientBase, Use>()
  /** Of all answers that are not read to their end. */
  #bytesRead = 0

  all(): [pg.ClientBase, Use][] {
    return [...this.#uses]
  }

  isCurrent(client: pg.ClientBase, use: Use): boolean {
    return this.#uses.get(client) === use
  }

  begin(client: pg.ClientBase, use: Use): void {
    this.#uses.set(client, use)
  }

  end(client: pg.ClientBase): void {
    this.#bytesRead -= this.#uses.get(client)?.bytesRead ?? 0
    this.#uses.delete(client)
  }

  noteRead(client: pg.ClientBase, bytes: number): void {
    const use = this.#uses.get(client)
    if (!use) return
    use.bytesRead += bytes
    use.suspectAt = performance.now() + suspectAfterMs
    this.#bytesRead += bytes
    if (this.#bytesRead > maxAnswerBytes) this.#giveUpLongest()
  }

  /** Whoever has read the most, not whoever reads the last of it. */
  #giveUpLongest(): void {
    let longest: [pg.ClientBase, Use] | undefined
    for (const each of this.#uses) if (!longest || each[1].bytesRead > longest[1].bytesRead) longest = each
    if (!longest) return
    const [client, use] = longest
    this.#bytesRead -= use.bytesRead
    use.bytesRead = 0
    streamOf(client).destroy()
  }
}
