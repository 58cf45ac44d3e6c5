/**
 * A row as a line of JSON, the same for the same values from either engine. What JSON has no exact form for is an object:
 * {"integer": "9223372036854775807"}, {"bytes": "base64"}, {"real": "NaN"}.
 */
import { findJsonExcess } from '../../core/json-bounds.ts'
import type { Cell, Row } from './content.ts'

export function writeRow(row: Row): string {
  let line = '['
  for (let i = 0; i < row.length; i++) {
    if (i > 0) line += ','
    line += writeCell(row[i] as Cell)
  }
  return `${line}]`
}

/** Throws unless the line is a row with so many cells. */
export function parseRow(line: string, columns: number): Cell[] {
  // Every cell may be an object with one value.
  if (line.length > harmlessLength && findJsonExcess(line, { maxDepth: 2, maxValues: 2 * columns + 1 })) {
    throw new Error('more than the cells of a row')
  }
  const cells = JSON.parse(line) as (Cell | Packed)[]
  if (!Array.isArray(cells) || cells.length !== columns) throw new Error(`no list of ${columns} cells`)
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]
    if (typeof cell === 'object' && cell !== null) cells[i] = unpack(cell as Packed)
  }
  return cells as Cell[]
}

/** Whatever is in a line of this length, parsing it takes little time and memory. */
const harmlessLength = 4096

type Packed = { integer: string } | { real: string } | { bytes: string }

const maxSafe = BigInt(Number.MAX_SAFE_INTEGER)

function writeCell(cell: Cell): string {
  switch (typeof cell) {
    case 'string':
      return JSON.stringify(cell)
    case 'bigint':
      return cell <= maxSafe && cell >= -maxSafe ? String(cell) : `{"integer":"${cell}"}`
    case 'number':
      return Number.isFinite(cell) && !Object.is(cell, -0) ? String(cell) : `{"real":"${nameOf(cell)}"}`
    case 'boolean':
      return cell ? 'true' : 'false'
    default:
      return cell === null ? 'null' : `{"bytes":"${Buffer.from(cell).toString('base64')}"}`
  }
}

function nameOf(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number)
}

/** Integers of either engine have at most 64 bits. */
const integerPattern = /^-?\d{1,19}$/
const reals = ['NaN', 'Infinity', '-Infinity', '-0']

function unpack(packed: Partial<Record<'integer' | 'real' | 'bytes', unknown>>): Cell {
  const { integer, real, bytes } = packed
  if (typeof integer === 'string' && integerPattern.test(integer)) return BigInt(integer)
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64')
  if (typeof real === 'string' && reals.includes(real)) return Number(real)
  throw new Error('a value of an unknown form')
}
