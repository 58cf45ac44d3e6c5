/** Reads one JSON object per line. Values have JSON types, as in a request body. */
import { isUtf8 } from 'node:buffer'
import { findJsonExcess } from '../../core/json-bounds.ts'
import { rememberLongNumbers } from '../../platform/validation/exact-numbers.ts'
import { maxDepth, maxFields, maxRecordBytes, type RecordReader, type SourceRecord, tooMany } from './records.ts'

const newline = 0x0a
const tooLong = 'longer than 1 MiB'
const excesses = { depth: `is nested more than ${maxDepth} levels deep`, values: tooMany('values') }

export function createNdjsonReader(): RecordReader {
  /** Of the line that is not complete yet. */
  let rest: Buffer[] = []
  let restLength = 0
  let line = 1
  let isDiscarding = false

  /** Returns undefined for a blank line. */
  function toRecord(bytes: Buffer): SourceRecord | undefined {
    if (bytes.length > maxRecordBytes) return { line, problem: tooLong }
    if (!isUtf8(bytes)) return { line, problem: 'not UTF-8 text' }
    const text = bytes.toString('utf8').replace(line === 1 ? /^\ufeff/ : '', '')
    if (text.trim() === '') return undefined
    const excess = findJsonExcess(text, { maxDepth, maxValues: maxFields })
    if (excess) return { line, problem: excesses[excess] }
    const row = parseBody(text)
    return row ? { line, row } : { line, problem: 'not a JSON object' }
  }

  function completeRest(end: Buffer): Buffer {
    const bytes = rest.length === 0 ? end : Buffer.concat([...rest, end])
    rest = []
    restLength = 0
    return bytes
  }

  return {
    push(chunk) {
      const records: SourceRecord[] = []
      let at = 0
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, at)) {
        const bytes = completeRest(chunk.subarray(at, end))
        const record = isDiscarding ? undefined : toRecord(bytes)
        if (record) records.push(record)
        isDiscarding = false
        line += 1
        at = end + 1
      }
      if (isDiscarding || at === chunk.length) return records
      // Copied, because the chunk's buffer is reused.
      rest.push(Buffer.from(chunk.subarray(at)))
      restLength += chunk.length - at
      if (restLength > maxRecordBytes) {
        records.push({ line, problem: tooLong })
        isDiscarding = true
        completeRest(Buffer.alloc(0))
      }
      return records
    },
    end() {
      const record = restLength === 0 ? undefined : toRecord(completeRest(Buffer.alloc(0)))
      return record ? [record] : []
    },
  }
}

function parseBody(text: string): object | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
    rememberLongNumbers(body, text)
    return body
  } catch {
    return undefined
  }
}
