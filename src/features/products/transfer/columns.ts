/** The columns of imported and exported files. */
import type { FileColumns } from '../../../collections/transfer/records.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { plainPrice, unclearPrice } from '../price-text.ts'
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

/** As spreadsheets write them: TRUE and FALSE; 12,50 and $12.50. */
export const productColumns: FileColumns = {
  known: readColumns,
  required: requiredColumns,
  readers: { active: (cell) => cell.toLowerCase(), price: plainPrice },
  findProblem({ price }, delimiter) {
    // Spreadsheets use semicolons where a comma is before the cents. There, 1.234 is likely to be 1234.
    const unclear = delimiter === ';' ? unclearPrice(price) : undefined
    return unclear === undefined ? undefined : `price: ${unclear}`
  },
}
