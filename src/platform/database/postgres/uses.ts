/** Tracks the connections in use and the bytes of their results. */
import { maxResultBytes } from '../database.ts'
import { type Connection, streamOf } from './client.ts'

/** Something that waits for the server. */
export interface Suspect {
  /** When to check with the server whether the statement is still running. */
  suspectAt: number
  /** Consecutive checks in which the server did not respond, or was not running the statement. */
  missed: number
}

export interface Use extends Suspect {
  deadline: number
  bytesRead: number
}

export const suspectAfterMs = 1500

export class Uses {
  readonly #uses = new Map<Connection, Use>()
  /** Of all results that are still being read. */
  #bytesRead = 0

  all(): [Connection, Use][] {
    return [...this.#uses]
  }

  isCurrent(connection: Connection, use: Use): boolean {
    return this.#uses.get(connection) === use
  }

  begin(connection: Connection, use: Use): void {
    this.#uses.set(connection, use)
  }

  end(connection: Connection): void {
    this.#bytesRead -= this.#uses.get(connection)?.bytesRead ?? 0
    this.#uses.delete(connection)
  }

  noteRead(connection: Connection, bytes: number): void {
    const use = this.#uses.get(connection)
    if (!use) return
    use.bytesRead += bytes
    use.suspectAt = performance.now() + suspectAfterMs
    this.#bytesRead += bytes
    if (this.#bytesRead > maxResultBytes) this.#dropLargest()
  }

  /** Drops the largest result, not the one that happened to exceed the limit. */
  #dropLargest(): void {
    let largest: [Connection, Use] | undefined
    for (const each of this.#uses) if (!largest || each[1].bytesRead > largest[1].bytesRead) largest = each
    if (!largest) return
    const [connection, use] = largest
    this.#bytesRead -= use.bytesRead
    use.bytesRead = 0
    streamOf(connection.client).destroy()
  }
}
