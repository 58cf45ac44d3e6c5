/** Imports rows in batches, with the progress in the same transaction, so that an interrupted import can resume. */
import { type ImportProgress, overtaken } from '../../../collections/store/import-progress.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Database, Statement } from '../../../platform/database/database.ts'
import { charactersPerWrite, insertMany, rowsPerWrite } from '../bulk.store.ts'
import type { ProductValues } from '../product.ts'
import { type BulkWriter, openBulkWriter } from './bulk-writer.ts'
import type { CheckedProduct } from './row-check.ts'

export interface Counts {
  imported: number
  rejected: number
}

export interface CheckJob {
  rows: AsyncIterable<readonly CheckedProduct[]>
  signal: AbortSignal
  onRejected(line: number, problem: string): void
  onProgress(counts: Counts): void
}

export interface ImportJob extends CheckJob {
  /** Undefined if the import cannot be resumed, as from standard input. */
  id: string | undefined
  /** Records at the start that an earlier run has processed, and how many of them were rejected. */
  done: { records: number; rejected: number }
  /** The user who imports, if any. */
  by?: number | null
}

/** The commits of this run. */
export interface ImportOutcome extends Counts {
  isInterrupted: boolean
}

/** Progress over rejected rows is stored too, but only once per so many records. */
const maxRecordsPerWrite = 10 * rowsPerWrite

export interface ProductImportDeps {
  db: Database
  clock: Clock
  store: ImportProgress
  /** By default for a process of its own: it changes settings of the connection. */
  openWriter?: (deps: { db: Database; clock: Clock }) => Promise<BulkWriter>
}

export function createProductImport({ db, clock, store, openWriter = openBulkWriter }: ProductImportDeps) {
  /** Counts the rows and writes nothing. */
  async function check({ rows, signal, onRejected, onProgress }: CheckJob): Promise<Counts> {
    const counts = { imported: 0, rejected: 0 }
    for await (const some of rows) {
      for (const row of some) {
        if ('values' in row) counts.imported += 1
        else {
          counts.rejected += 1
          onRejected(row.line, row.problem)
        }
      }
      onProgress(counts)
      signal.throwIfAborted()
    }
    return counts
  }

  async function run(job: ImportJob): Promise<ImportOutcome> {
    const { rows, id, done, by, signal, onRejected, onProgress } = job
    const bulk = await openWriter({ db, clock })
    /** Committed by this run. */
    const counts = { imported: 0, rejected: 0 }
    let products: ProductValues[] = []
    let characters = 0
    let place = 0
    let [seen, rejected] = [done.records, 0]
    let hasBegun = false
    let underWay: Promise<void> = Promise.resolve()
    let isInterrupted = false

    async function write(
      batch: ProductValues[],
      advance: { from: number; to: number; rejected: number },
      isFinished: boolean,
    ) {
      const statements: Statement[] = []
      if (id !== undefined) {
        if (!hasBegun) await store.begin(id)
        hasBegun = true
        statements.push(store.advance(id, { ...advance, rejected: done.rejected + advance.rejected, isFinished }))
      }
      if (batch.length > 0) statements.push(insertMany(db.dialect, batch, clock.nowIso(), by))
      if (statements.length > 0) {
        const decided = await bulk.write(...statements)
        if (id !== undefined && decided.length === 0) throw overtaken()
      }
      counts.imported += batch.length
      counts.rejected = advance.rejected
      onProgress(counts)
    }

    /** Does not wait for the write: the next rows are read and validated meanwhile. */
    async function flush(isFinished: boolean): Promise<void> {
      await underWay
      underWay = write(products, { from: seen, to: Math.max(place, seen), rejected }, isFinished)
      // The next `await underWay` reports a failure; this only avoids an unhandled rejection before it.
      underWay.catch(() => {})
      products = []
      characters = 0
      seen = Math.max(place, seen)
    }

    try {
      for await (const some of rows) {
        for (const row of some) {
          place += 1
          if (place <= done.records) continue
          if ('values' in row) {
            products.push(row.values)
            characters += row.values.description.length
          } else {
            rejected += 1
            onRejected(row.line, row.problem)
          }
          const isFull = products.length === rowsPerWrite || characters >= charactersPerWrite
          if (isFull || place - seen === maxRecordsPerWrite) await flush(false)
        }
        signal.throwIfAborted()
      }
      await flush(true)
      await underWay
    } catch (error) {
      if (!signal.aborted) throw error
      isInterrupted = true
      // The pending write is kept; rows that were only read are read again by the next run.
      await underWay
    }
    await bulk.settle(counts.imported)
    return { ...counts, isInterrupted }
  }

  return { check, run }
}

export type ProductImport = ReturnType<typeof createProductImport>
