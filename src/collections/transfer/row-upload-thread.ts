/** The thread that reads an uploaded file with rows of a collection. */
import { workerData } from 'node:worker_threads'
import { describeDetails, validationFailed } from '../../platform/validation/body-validation.ts'
import { Problems } from '../../platform/validation/problems.ts'
import { compileBodies, type Moment } from '../store/values.ts'
import { type PlainBody, toPlainBody, withLists } from './created-rows.ts'
import { serveUpload } from './serve-upload.ts'
import { isRequired, type PlainField, samplesOf } from './upload-fields.ts'

const { fields, moment } = workerData as { fields: readonly PlainField[]; moment: Moment }
const samples = samplesOf(fields)

serveUpload<PlainBody>({
  columns: {
    known: fields.map(({ name }) => name),
    required: fields.filter(isRequired).map(({ name }) => name),
  },
  createCheck() {
    const collection = { fields: new Map(fields.map((field) => [field.name, field])) }
    const bodies = compileBodies(collection, { hasHook: false })
    return (record) => {
      if ('problem' in record) return record
      const row = withLists(record.row, fields)
      const problems = new Problems()
      bodies.readNew(row, moment, problems)
      if (!problems.details) return { line: record.line, values: toPlainBody(row) }
      return { line: record.line, problem: describeDetails(validationFailed(problems.details)) ?? '' }
    }
  },
  toSample: ({ row }) => samples.map(({ name }) => textOf((row as Record<string, unknown>)[name])),
})

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
