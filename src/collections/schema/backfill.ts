/**
 * Calculates values of rows that were written before a declaration asked for them: stored computations, and the lower-case texts
 * by which lists are sorted and searched. In the background, some rows at a time.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Statement, Value } from '../../platform/database/database.ts'
import type { Running } from '../../platform/feature.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { Described } from '../declare/describe.ts'
import { computeValue, fromStoredValue } from '../store/values.ts'
import { castTo, hasKey, keyColumnOf, keyOf, quote, stateTable, storedFieldsOf } from './tables.ts'

export interface BackfillDeps extends Pick<Infrastructure, 'db' | 'log'> {
  /** In the transaction of the last step, if readers see calculated values. */
  atEnd(): Statement
}

const everyMs = 60_000
const batch = 500
const pauseMs = 20
/** Fewer rows take no time worth telling. */
const manyRows = 10_000
const progressMs = 10_000

interface Progress {
  hash: string
  done_to: number | null
  last_id: number | null
}

type StoredRow = Readonly<Record<string, Value>> & { readonly id: number; readonly version: number }

/** Several nodes may run it: each step is claimed by one of them. */
export function startBackfill(
  collection: Described,
  { db, log, atEnd }: BackfillDeps,
): Running & { finished: Promise<void> } {
  const stored = storedFieldsOf(collection)
  const computed = stored.filter(({ kind }) => kind === 'computed')
  const keyed = stored.filter((field) => hasKey(field, collection))
  const columns = [...computed.map(({ name }) => name), ...keyed.map(keyColumnOf)]
  const source = hash(
    'sha256',
    JSON.stringify([columns, computed.map(({ definition }) => String(definition.computed?.of))]),
    'hex',
  )
  const table = quote(collection.table)
  const ofCollection = `collection = '${collection.name}' AND part = 'values'`
  let isClosed = false
  let isDone = columns.length === 0

  async function work(): Promise<void> {
    let toldAt = performance.now()
    for (let began = false; !isClosed && !isDone; began = true) {
      const found = await db.get<Progress>(`SELECT hash, done_to, last_id FROM ${stateTable} WHERE ${ofCollection}`)
      if (found?.hash !== source) {
        await begin()
        continue
      }
      const { done_to, last_id } = found
      isDone = done_to === null
      if (done_to === null || last_id === null) return
      const isLarge = last_id > manyRows
      if (isLarge && (!began || performance.now() - toldAt > progressMs)) {
        log.info({ done_to, last_id }, `calculating values of ${collection.name}, in the background`)
        toldAt = performance.now()
      }
      await calculateSome(done_to, last_id)
      if (isLarge) await sleep(pauseMs)
    }
  }

  async function begin(): Promise<void> {
    await db.write({
      sql: `INSERT INTO ${stateTable} (collection, part, hash, done_to, last_id)
        VALUES ($1, 'values', $2, 0, (SELECT COALESCE(MAX(id), 0) FROM ${table}))
        ON CONFLICT (collection, part) DO UPDATE SET hash = excluded.hash, done_to = 0, last_id = excluded.last_id`,
      params: [collection.name, source],
    })
  }

  async function calculateSome(after: number, last: number): Promise<void> {
    const names = new Set([...stored.map(({ name }) => name), ...columns, 'version'])
    const rows = await db.all<StoredRow>(
      `SELECT ${[...names].map(quote).join(', ')} FROM ${table} WHERE id > $1 AND id <= $2 ORDER BY id LIMIT ${batch}`,
      [after, last],
    )
    const end = rows.at(-1)?.id ?? null
    const claim = {
      sql: `UPDATE ${stateTable} SET done_to = $1 WHERE ${ofCollection} AND hash = $2 AND done_to = $3 RETURNING hash`,
      params: [end, source, after],
      decides: true,
    }
    const isSeen = computed.length > 0 && last > 0
    await db.write(claim, ...rows.flatMap(updateOf), ...(end === null && isSeen ? [atEnd()] : []))
  }

  /** Not of a row that has changed since it was read: whoever changed it has calculated them. */
  function updateOf(row: StoredRow): Statement[] {
    const values = Object.fromEntries(
      stored.map(({ name, definition }) => [name, fromStoredValue(definition, row[name])]),
    )
    const calculated = new Map<string, Value>(
      computed.map(({ name, definition }) => [name, computeValue(definition, values)]),
    )
    for (const field of keyed) calculated.set(keyColumnOf(field), keyOf(calculated.get(field.name) ?? row[field.name]))
    const changed = [...calculated].filter(([name, value]) => row[name] !== value)
    if (changed.length === 0) return []
    const set = changed.map(([name], i) => {
      const field = computed.find((each) => each.name === name)
      return `${quote(name)} = ${field ? castTo(field, `$${i + 3}`, db.dialect) : `$${i + 3}`}`
    })
    const sql = `UPDATE ${table} SET ${set.join(', ')} WHERE id = $1 AND version = $2`
    return [{ sql, params: [row.id, row.version, ...changed.map(([, value]) => value)] }]
  }

  const onError = (error: unknown) =>
    log.warn({ err: error }, `calculating values of ${collection.name} failed; it is tried again in a minute`)
  const first = work().catch(onError)
  const repeated = startPeriodicTask({ everyMs, work, onError })
  return {
    /** Or has failed. */
    finished: first,
    async close() {
      isClosed = true
      await first
      await repeated.close()
    },
  }
}
