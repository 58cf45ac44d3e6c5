/**
 * A row is checked as the body of a POST is. Besides it may say whether the product is active, and its description may
 * be blank: a change may have made it so, and what was exported can be imported again.
 */

import { compileBody, describeDetails } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { BulkProduct } from '../bulk.store.ts'
import { NewProduct, toInput } from '../products.schema.ts'
import type { SourceRecord } from './records.ts'

const NewRow = Type.Object({
  ...NewProduct.properties,
  description: Type.String(),
  active: Type.Optional(Type.Boolean({ default: true })),
})

export type CheckedRow = { product: BulkProduct } | { problem: string }

export function createRowCheck(): (record: SourceRecord) => CheckedRow {
  const validate = compileBody(NewRow)
  return (record) => {
    if ('problem' in record) return record
    const checked = validate(record.row)
    if ('error' in checked) return { problem: describeDetails(checked.error) ?? checked.error.message }
    return { product: { ...toInput(checked.value), active: checked.value.active } }
  }
}
