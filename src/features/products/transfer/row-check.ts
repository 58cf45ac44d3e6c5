/**
 * Validates rows like the body of a POST. In addition, `active` is allowed, and the description may be blank, because an
 * update can make it so and every export must be importable.
 */

import { compileBody, describeDetails } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ProductValues } from '../product.ts'
import { NewProduct, toInput } from '../products.schema.ts'
import type { SourceRecord } from './records.ts'

const NewRow = Type.Object({
  ...NewProduct.properties,
  description: Type.String(),
  active: Type.Optional(Type.Boolean({ default: true })),
})

export type CheckedRow = { product: ProductValues } | { problem: string }

export function createRowCheck(): (record: SourceRecord) => CheckedRow {
  const validate = compileBody(NewRow)
  return (record) => {
    if ('problem' in record) return record
    const checked = validate(record.row)
    if ('error' in checked) return { problem: describeDetails(checked.error) ?? checked.error.message }
    return { product: { ...toInput(checked.value), active: checked.value.active } }
  }
}
