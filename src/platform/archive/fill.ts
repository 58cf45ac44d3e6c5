/** Fills an empty schema with content, and compares every row before anything is committed. */
import {
  badArchive,
  type Cell,
  type Content,
  type Kind,
  type OnProgress,
  type Row,
  type Step,
  type Table,
} from './content.ts'
import { canonicalTimestamp } from './postgres-values.ts'
import { writeRow } from './row-text.ts'
import { notAsListed, TableDigest } from './table-digest.ts'
import type { Target } from './target.ts'

export interface FillOptions {
  content: Content
  target: Target
  /** What the content says of its tables; known of an archive, not of a database that is being read. */
  expected?: ReadonlyMap<string, { rows: number; digest: string }>
  onProgress?: OnProgress | undefined
}

export interface Filled {
  tables: number
  rows: number
}

export async function fill({ content, target, expected, onProgress }: FillOptions): Promise<Filled> {
  const onLoaded = counted('loading', content, onProgress)
  const loaded: { table: Table; comparable: Comparable; digest: TableDigest }[] = []
  for (const table of content.tables) {
    const own = requireSameColumns(table, target.findTable(table.name))
    const comparable = createComparable(table, own, content.dialect !== target.dialect)
    const asRead = new TableDigest()
    const asStored = new TableDigest()
    const rows = passing(content.rows(table), { comparable, asRead, asStored, onRows: onLoaded })
    await target.load(table, rows).catch((error) => {
      throw describeRefusal(error, `table ${table.name} cannot be loaded`)
    })
    const wanted = expected?.get(table.name)
    if (wanted && (wanted.rows !== asRead.rows || wanted.digest !== asRead.hex())) {
      throw notAsListed(table)
    }
    loaded.push({ table, comparable, digest: asStored })
  }
  await target.complete(content.tables).catch((error) => {
    throw describeRefusal(error, 'the rows do not fit together')
  })
  const onCompared = counted('comparing', content, onProgress)
  for (const { table, comparable, digest } of loaded) {
    const found = new TableDigest()
    for await (const rows of target.rows(table)) {
      for (const row of rows) found.add(writeRow(comparable(row)))
      onCompared(rows.length)
    }
    if (found.rows !== digest.rows) throw differs(table, `${found.rows} rows instead of ${digest.rows}`)
    if (found.hex() !== digest.hex()) throw differs(table, 'other values')
  }
  return { tables: loaded.length, rows: loaded.reduce((sum, { digest }) => sum + digest.rows, 0) }
}

interface Passing {
  comparable: Comparable
  asRead: TableDigest
  asStored: TableDigest
  onRows(rows: number): void
}

/** Passes rows on to the target, and adds them to the checksums on their way. */
async function* passing(
  batches: AsyncIterable<readonly Row[]>,
  { comparable, asRead, asStored, onRows }: Passing,
): AsyncGenerator<readonly Row[]> {
  for await (const rows of batches) {
    for (const row of rows) {
      const line = writeRow(row)
      const stored = comparable(row)
      asRead.add(line)
      asStored.add(stored === row ? line : writeRow(stored))
    }
    yield rows
    onRows(rows.length)
  }
}

/** A row as the target returns it. Returns the row itself where that is the same. */
type Comparable = (row: Row) => Row

function createComparable(table: Table, own: readonly Kind[], isOtherEngine: boolean): Comparable {
  const changes = table.columns.flatMap(({ kind }, i): [number, (cell: Cell) => Cell][] => {
    if (own[i] === 'timestamp') return [[i, (cell) => (typeof cell === 'string' ? canonicalTimestamp(cell) : cell)]]
    // The other engine writes the same value in another way.
    return isOtherEngine && (kind === 'other' || own[i] === 'other') ? [[i, () => null]] : []
  })
  return (row) => {
    let changed: Cell[] | undefined
    for (const [i, change] of changes) {
      const cell = change(row[i] as Cell)
      if (cell === row[i]) continue
      changed ??= [...row]
      changed[i] = cell
    }
    return changed ?? row
  }
}

/** Returns the target's kinds in the order of the content's columns. */
function requireSameColumns(table: Table, own: Table | undefined): Kind[] {
  const kinds = new Map(own?.columns.map(({ name, kind }) => [name, kind]))
  const kept = table.columns.flatMap(({ name }) => kinds.get(name) ?? [])
  if (kept.length === table.columns.length && kinds.size === kept.length) return kept
  throw badArchive(`the columns of table ${table.name} are not those that the migrations make`)
}

/** Adds up the rows of all tables. */
function counted(step: Step, { estimatedRows }: Content, onProgress: OnProgress | undefined) {
  let done = 0
  return (rows: number) => {
    done += rows
    onProgress?.({ step, rows: done, total: estimatedRows })
  }
}

// SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH and SQLITE_RANGE: https://sqlite.org/rescode.html
const sqliteRefusals = [18, 19, 20, 25]
/** Classes: data exceptions and violated constraints. */
const postgresRefusals = /^2[23]/

/** An error of the database about the values themselves. Others, such as of a full disk, are passed on. */
function describeRefusal(error: unknown, what: string): unknown {
  if (!(error instanceof Error)) return error
  const { code = '', errcode = 0 } = error as { code?: string; errcode?: number }
  const isRefusal =
    code === 'ERR_SQLITE_ERROR'
      ? sqliteRefusals.includes(errcode & 0xff)
      : code.startsWith('ERR_INVALID_ARG') || code === 'ERR_OUT_OF_RANGE' || postgresRefusals.test(code)
  return isRefusal ? badArchive(`${what}: ${error.message}. Nothing was written`, error) : error
}

function differs({ name }: Table, how: string) {
  return badArchive(`table ${name} came out with ${how}: nothing was changed. Please report this as a bug of Latchkey`)
}
