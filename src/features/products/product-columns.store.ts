/** The columns of products. The SQL texts that read and write whole products, and their parameters, are made from them. */
import { listedText } from '../../platform/database/listed-texts.ts'
import { type Product, type ProductChange, type ProductValues, toNameKey, toSlug } from './product.ts'

interface WrittenRow extends ProductValues {
  name_key: string
  slug: string
}

/** The columns that a client's values are written to, with their types in PostgreSQL. */
const written = {
  name: 'TEXT',
  name_key: 'TEXT',
  slug: 'TEXT',
  description: 'TEXT',
  price_cents: 'BIGINT',
  category: 'TEXT',
  stock: 'INTEGER',
  active: 'BOOLEAN',
} as const satisfies Record<keyof WrittenRow, string>

export const writtenColumns = Object.keys(written) as readonly (keyof WrittenRow)[]
export const postgresTypes: Readonly<Record<keyof WrittenRow, string>> = written

/** The values of `writtenColumns`, in their order. Null if not given. */
export function writtenValues(change: ProductChange): (string | number | boolean | null)[] {
  const { name } = change
  const row: Partial<WrittenRow> =
    name === undefined ? change : { ...change, name_key: toNameKey(name), slug: toSlug(name) }
  return writtenColumns.map((column) => row[column] ?? null)
}

type ReadColumn = Exclude<keyof WrittenRow, 'name_key'> | 'id' | 'version' | 'created_at' | 'updated_at'
/** Fails to compile if a property of Product is in no column. */
const readColumns: readonly (keyof Product extends ReadColumn ? keyof Product : never)[] = [
  'id',
  ...writtenColumns.filter((column) => column !== 'name_key'),
  'version',
  'created_at',
  'updated_at',
]

export const columns = readColumns.join(', ')
/** Without descriptions, a thousand of which may take a gigabyte. */
export const briefColumns = selectDescription("'' AS description")
/** For streamed lists: long descriptions are null. */
export const listedColumns = selectDescription(listedText('description'))
/** The columns of ProductKey. */
export const keyColumns = 'id, version, updated_at'

function selectDescription(sql: string): string {
  return readColumns.map((column) => (column === 'description' ? sql : column)).join(', ')
}
