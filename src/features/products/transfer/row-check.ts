import type { CheckedRow, SourceRecord } from '../../../collections/transfer/records.ts'
import { compileBody, describeDetails } from '../../../platform/validation/body-validation.ts'
import type { ProductValues } from '../product.ts'
import { toInput } from '../products.schema.ts'
import { ImportedRow } from './columns.ts'

export type CheckedProduct = CheckedRow<ProductValues>

export function createRowCheck(): (record: SourceRecord) => CheckedProduct {
  const validate = compileBody(ImportedRow)
  return (record) => {
    if ('problem' in record) return record
    const { line, row } = record
    const checked = validate(row)
    if ('error' in checked) return { line, problem: describeDetails(checked.error) ?? checked.error.message }
    return { line, values: { ...toInput(checked.value), active: checked.value.active } }
  }
}

export async function* checkRows(records: AsyncIterable<SourceRecord[]>): AsyncGenerator<CheckedProduct[]> {
  const check = createRowCheck()
  for await (const some of records) yield some.map(check)
}
