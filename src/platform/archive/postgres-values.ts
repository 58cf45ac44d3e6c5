/** Values of PostgreSQL as text, and back. */
import type { Cell, Kind } from './content.ts'

const kinds: ReadonlyMap<string, Kind> = new Map([
  ['int2', 'integer'],
  ['int4', 'integer'],
  ['int8', 'integer'],
  ['float4', 'real'],
  ['float8', 'real'],
  ['bool', 'boolean'],
  ['text', 'text'],
  ['varchar', 'text'],
  ['timestamptz', 'timestamp'],
  ['bytea', 'bytes'],
])

/** By the name in pg_type. */
export function kindOfType(type: string): Kind {
  return kinds.get(type) ?? 'other'
}

/** Reads the text that the server sends for a value of this type. */
export function cellReader(type: string): (text: string) => Cell {
  switch (kindOfType(type)) {
    case 'integer':
      return parseInteger
    case 'real':
      return Number
    case 'boolean':
      return (text) => text === 't'
    case 'timestamp':
      return toExactIso
    case 'bytes':
      return (text) => Buffer.from(text.slice(2), 'hex')
    default:
      return (text) => text
  }
}

const safeDigits = 15

function parseInteger(text: string): number | bigint {
  return text.length <= safeDigits ? Number(text) : BigInt(text)
}

const serverTimestamp = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

/** `2026-01-02 03:04:05.678+00` as `2026-01-02T03:04:05.678Z`. Milliseconds at least, and all digits that there are. */
function toExactIso(text: string): string {
  const match = serverTimestamp.exec(text)
  if (!match) return text
  return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(3, '0')}Z`
}

const isoTimestamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/

/** The form in which PostgreSQL returns a timestamp, so that what was stored can be compared with what is returned. */
export function canonicalTimestamp(text: string): string {
  const match = isoTimestamp.exec(text)
  if (!match) return text
  const digits = match[2] ?? ''
  if (digits.length === 3) return text
  const full = digits.padEnd(6, '0')
  return `${match[1]}.${full.endsWith('000') ? full.slice(0, 3) : trimZeros(full)}Z`
}

function trimZeros(digits: string): string {
  let end = digits.length
  while (end > 3 && digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** A row for COPY: https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2 */
export function copyLine(row: readonly Cell[]): string {
  let line = ''
  for (let i = 0; i < row.length; i++) line += `${i > 0 ? '\t' : ''}${copyValue(row[i] as Cell)}`
  return `${line}\n`
}

function copyValue(cell: Cell): string {
  switch (typeof cell) {
    case 'string':
      return escapePattern.test(cell) ? cell.replace(escapes, (found) => escaped[found] as string) : cell
    case 'boolean':
      return cell ? 't' : 'f'
    case 'object':
      return cell === null ? '\\N' : `\\\\x${Buffer.from(cell).toString('hex')}`
    default:
      return Object.is(cell, -0) ? '-0' : String(cell)
  }
}

const escapePattern = /[\\\n\r\t]/
const escapes = /[\\\n\r\t]/g
const escaped: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
