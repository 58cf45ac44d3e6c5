import { compileBody, describeDetails } from '../../../platform/validation/body-validation.ts'
import type { ProductValues } from '../product.ts'
import { toInput } from '../products.schema.ts'
import { ImportedRow } from './columns.ts'
import type { SourceRecord } from './records.ts'

export type CheckedRow = { product: ProductValues } | { problem: string }

export function createRowCheck(): (record: SourceRecord) => CheckedRow {
  const validate = compileBody(ImportedRow)
  return (record) => {
    if ('problem' in record) return record
    const checked = validate(record.row)
    if ('error' in checked) return { problem: describeDetails(checked.error) ?? checked.error.message }
    return { product: { ...toInput(checked.value), active: checked.value.active } }
  }
}
