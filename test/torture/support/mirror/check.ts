/** Compares what consumers have received with the table and the log. Returns what is wrong. */
import { openReader, type Reader } from '../kills/reader.ts'
import { type Copy, nameOf } from './copy.ts'
import { ofTable } from './rows.ts'

const maxShown = 5

export interface Stored {
  /** Products that are not deleted, by id. */
  rows: ReadonlyMap<number, string>
  log: readonly LogEntry[]
}

interface LogEntry {
  id: number
  product: number
  type: string
  /** As stored: of a deletion, the one that it ends. */
  version: number
}

/** While nobody writes. */
export async function readStored(databaseUrl: string): Promise<Stored> {
  const reader = await openReader(databaseUrl)
  try {
    return { rows: await readRows(reader), log: await readLog(reader) }
  } finally {
    await reader.close()
  }
}

async function readRows({ rows }: Reader): Promise<Stored['rows']> {
  const found = await rows('SELECT * FROM products WHERE deleted_at IS NULL')
  return new Map(found.map(ofTable).map(({ id, text }) => [id, text]))
}

async function readLog({ rows }: Reader): Promise<LogEntry[]> {
  const found = await rows("SELECT id, entity_id, type, data FROM changes WHERE topic = 'products' ORDER BY id")
  return found.map(({ id, entity_id, type, data }) => ({
    id: Number(id),
    product: Number(entity_id),
    type: String(type),
    version: JSON.parse(String(data)).version,
  }))
}

/** The versions of each product follow one another: a deletion shows the version that it ends, and is one itself. */
export function findDisorder({ log }: Stored): string[] {
  const next = new Map<number, number>()
  const problems: string[] = []
  for (const { id, product, type, version } of log) {
    const isDeletion = type === 'product.deleted'
    const expected = (next.get(product) ?? 1) - (isDeletion ? 1 : 0)
    if (version !== expected) problems.push(`${id}: ${type} ${product} has version ${version}, not ${expected}`)
    next.set(product, version + (isDeletion ? 2 : 1))
  }
  return problems.slice(0, maxShown)
}

export function findDifferences(copy: Copy, { rows, log }: Stored): string[] {
  const all = new Set([...copy.rows.keys(), ...rows.keys()])
  const unlike = [...all].filter((id) => copy.rows.get(id) !== rows.get(id))
  const received = new Set(copy.received)
  const missed = log.map(nameOfEntry).filter((name) => !received.has(name))
  return [
    ...unlike.slice(0, maxShown).map((id) => `product ${id} is ${copy.rows.get(id)}, in the table ${rows.get(id)}`),
    ...(missed.length > 0 ? [`missed ${missed.length} entries: ${missed.slice(0, maxShown)}`] : []),
    ...(received.size !== copy.received.length ? ['entries came twice'] : []),
    ...(copy.received.length + missed.length > log.length ? ['there are entries that the log does not have'] : []),
  ]
}

function nameOfEntry({ product, type, version }: LogEntry): string {
  return nameOf(product, type === 'product.deleted' ? version + 1 : version)
}
