/**
 * A row as a line of JSON, the same for the same values from either engine. What JSON has no exact form for is an object:
 * {"integer": "9223372036854775807"}, {"bytes": "base64"}, {"real": "NaN"}.
 */
import type { Cell, Row } from './content.ts'

export function writeRow(row: Row): string {
  let line = '['
  for (let i = 0; i < row.length; i++) {
    if (i > 0) line += ','
    line += writeCell(row[i] as Cell)
  }
  return `${line}]`
}

export function parseRow(line: string): Cell[] {
  const cells = JSON.parse(line) as (Cell | Packed)[]
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]
    if (typeof cell === 'object' && cell !== null) cells[i] = unpack(cell as Packed)
  }
  return cells as Cell[]
}

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

function unpack(packed: Packed): Cell {
  if ('integer' in packed) return BigInt(packed.integer)
  if ('bytes' in packed) return Buffer.from(packed.bytes, 'base64')
  if ('real' in packed) return Number(packed.real)
  throw new Error('a value of an unknown form')
}
