/**
 * Finds SQL texts that are not constant, such as an IN list with a placeholder for each value. They are served, but each is
 * prepared anew, which takes longer than most queries, and displaces constant ones (see text-cache.ts). For development: it
 * looks at every text.
 */
import type { Database, Statement, Value } from './database.ts'

/** Texts that differ only in numbers, literals and the length of lists. Sorted lists have two such texts. */
const maxAlike = 20
const maxTexts = 2000
const maxCompared = 4096

/** Calls `onFound` once, with a text that is one of many alike. */
export function watchChangingTexts(db: Database, onFound: (sql: string) => void): Database {
  const known = new Set<string>()
  const alike = new Map<string, number>()
  let isWatching = true

  function watch(sql: string): void {
    if (!isWatching || known.has(sql)) return
    known.add(sql)
    const shape = shapeOf(sql)
    const count = (alike.get(shape) ?? 0) + 1
    alike.set(shape, count)
    if (count <= maxAlike && known.size <= maxTexts) return
    isWatching = false
    known.clear()
    alike.clear()
    onFound(sql)
  }

  return {
    ...db,
    get<Row extends object>(sql: string, params?: readonly Value[]) {
      watch(sql)
      return db.get<Row>(sql, params)
    },
    all<Row extends object>(sql: string, params?: readonly Value[]) {
      watch(sql)
      return db.all<Row>(sql, params)
    },
    scan<Row extends object>(sql: string, params?: readonly Value[]) {
      watch(sql)
      return db.scan<Row>(sql, params)
    },
    // The overloads of the interface only narrow the row types.
    write: ((...statements: Statement[]) => {
      for (const { sql } of statements) watch(sql)
      return db.write(...statements)
    }) as Database['write'],
  }
}

/** The parts of a text, each once, without numbers and literals: the same for lists of any length. */
export function shapeOf(sql: string): string {
  // Every second part is a literal.
  const unquoted = sql
    .slice(0, maxCompared)
    .split("'")
    .map((part, i) => (i % 2 === 1 ? '?' : part.replaceAll(/\d+/g, '?')))
  const plain = unquoted.join('').replaceAll(/\s+/g, ' ')
  const parts = plain.split(/ ?(?:,|\b(?:OR|AND|UNION ALL|UNION)\b) ?/i)
  // The last one of a long text is cut anywhere.
  if (sql.length > maxCompared) parts.pop()
  return [...new Set(parts)].join()
}

/** For the log. */
export function beginningOf(sql: string): string {
  const text = sql.trim().replaceAll(/\s+/g, ' ')
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

const maxShown = 120
