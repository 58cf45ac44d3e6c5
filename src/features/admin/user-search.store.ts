/** Finds users by a part of their email or name. */
import { normaliseEmail } from '../../core/email.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import type { Database } from '../../platform/database/database.ts'
import { keyOf } from './user-list-sql.store.ts'

/** The condition on a user `u`, with two parameters of `termsOf`. Reads every user. */
export const matches = (email: string, name: string) =>
  `(u.email LIKE ${email} ESCAPE '!' OR u.name_key LIKE ${name} ESCAPE '!')`

export function termsOf(q: string): string[] {
  return keysOf(q).map((text) => `%${text.replace(/[!%_]/g, (char) => `!${char}`)}%`)
}

/** PostgreSQL cannot store U+0000, so no user has one. */
export function isUnknown(q: string): boolean {
  return q.includes('\0')
}

/** How many of the newest users are looked at: a few milliseconds of reading. */
export const maxSearched = 2000

/** Greater than every other character. */
const lastCharacter = '\u{10ffff}'

/**
 * Finds the first users without reading all of them: those whose email or name begins with the text, by an index, and then
 * those of the newest that have it anywhere.
 */
export function createFirstFound(db: Database) {
  const beginning = (field: string, [low, high]: readonly [string, string]) => {
    const key = keyOf(field, db.dialect)
    return `SELECT id, 1 AS place FROM users WHERE ${key} >= ${low} AND ${key} < ${high} ORDER BY ${key}, id LIMIT $7`
  }
  const sql = `SELECT id FROM (
      SELECT * FROM (${beginning('email', ['$1', '$2'])}) AS by_email
      UNION ALL SELECT * FROM (${beginning('name', ['$3', '$4'])}) AS by_name
      UNION ALL SELECT * FROM (
        SELECT id, 2 AS place FROM (
          SELECT id, email, name_key FROM users WHERE id <= $8 ORDER BY id DESC LIMIT ${maxSearched}
        ) AS u WHERE ${matches('$5', '$6')} ORDER BY id DESC LIMIT $7
      ) AS newest
    ) AS found GROUP BY id ORDER BY min(place), id LIMIT $7`

  /** Their ids. */
  return async (q: string, limit: number): Promise<number[]> => {
    if (isUnknown(q)) return []
    const ranges = keysOf(q).flatMap((key) => [key, `${key}${lastCharacter}`])
    const rows = await db.scan<{ id: number }>(sql, [...ranges, ...termsOf(q), limit, Number.MAX_SAFE_INTEGER])
    return rows.map(({ id }) => id)
  }
}

function keysOf(q: string): string[] {
  return [normaliseEmail(q), lowerByCodePoint(q)]
}
