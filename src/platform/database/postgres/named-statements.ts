/**
 * The named statements of a connection: each text is prepared once. The server keeps them until the connection ends, so they
 * are closed when the cache of texts evicts them.
 */
import { hash } from 'node:crypto'
import type pg from 'pg'
import { createTextCache } from '../text-cache.ts'

export interface NamedStatements {
  /** For a query that is sent at once. */
  nameOf(sql: string): string
  /** Closes those that were evicted. To be called when no query is under way. */
  closeEvicted(): void
}

/** 132 bits. */
const nameLength = 22

/** Not in the types of pg: the texts of statements that the server knows, by name. */
interface Parsed {
  parsedStatements: Record<string, string>
}

export function createNamedStatements({ connection }: Pick<pg.Client, 'connection'>): NamedStatements {
  const { parsedStatements } = connection as unknown as Parsed
  let evicted: string[] = []
  const names = createTextCache<string>((name) => void evicted.push(name))

  return {
    nameOf(sql) {
      let name = names.get(sql)
      if (name === undefined) {
        // The same on all connections: behind a pooler that changes its mode, a name must never be of another text.
        name = `s${hash('sha256', sql, 'base64url').slice(0, nameLength)}`
        names.set(sql, name)
      }
      return name
    },
    closeEvicted() {
      if (evicted.length === 0) return
      // Without a Sync of their own: the next query follows. To close a statement that was never parsed is no error.
      connection.stream.cork()
      for (const name of evicted) {
        connection.close({ type: 'S', name }, true)
        delete parsedStatements[name]
      }
      connection.stream.uncork()
      evicted = []
    },
  }
}
