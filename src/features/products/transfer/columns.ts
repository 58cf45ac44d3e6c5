/** The columns of imported and exported files. */
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { ProductResource } from '../product-resource.ts'
import { NewProduct } from '../products.schema.ts'

/**
 * An imported row is validated like the body of a POST. In addition, `active` is allowed, and the description may be blank,
 * because an update can make it so and every export must be importable.
 */
export const ImportedRow = Type.Object({
  ...NewProduct.properties,
  description: Type.String(),
  active: Type.Optional(Type.Boolean({ default: true })),
})

export const readColumns: readonly string[] = Object.keys(ImportedRow.properties)
export const requiredColumns: readonly string[] = ImportedRow.required

type Attribute = keyof ProductResource['attributes']
const computedAttributes = ['formatted_price', 'in_stock'] as const satisfies Attribute[]
export type ExportedColumn = 'id' | Exclude<Attribute, (typeof computedAttributes)[number]>

const attributes = Object.keys(ProductResource.properties.attributes.properties) as Attribute[]
/** The attributes of the resource, without those that follow from others. */
export const exportedColumns: readonly ExportedColumn[] = ['id', ...attributes.filter(isExported)]

function isExported(name: Attribute): name is Exclude<ExportedColumn, 'id'> {
  return !computedAttributes.some((computed) => computed === name)
}

/** Returns the columns of a header row in order; undefined for ignored ones. */
export function requireColumns(header: readonly string[], delimiter: string): (string | undefined)[] {
  const names = header.map((name) => name.trim().toLowerCase())
  const missing = requiredColumns.filter((name) => !names.includes(name))
  if (missing.length > 0) {
    const other = [';', '\t', '|', ','].find((sign) => sign !== delimiter && header.some((name) => name.includes(sign)))
    const hint =
      other === undefined
        ? ''
        : `; are its fields separated by "${other === '\t' ? '\\t' : other}"? Say so by --delimiter`
    throw wrong(
      `the file has no column ${missing.join(', ')}; its first row is: ${shorten(header.join(delimiter))}${hint}`,
    )
  }
  const twice = readColumns.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined) throw wrong(`the file has the column ${twice} twice`)
  return names.map((name) => (readColumns.includes(name) ? name : undefined))
}

export function wrong(message: string): FatalError {
  return new FatalError(message, exitCodes.badData)
}

/** Replaces control characters, because the text of the file is printed to a terminal. */
function shorten(text: string): string {
  const plain = text.replace(/\p{C}/gu, '\u{fffd}')
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain
}
