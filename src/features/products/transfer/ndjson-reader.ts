/** Reads one JSON object per line. Values have JSON types, as in a request body. */
import { isUtf8 } from 'node:buffer'
import { rememberLongNumbers } from '../../../platform/validation/exact-numbers.ts'
import { maxRecordBytes, type RecordReader, type SourceRecord } from './records.ts'

const newline = 0x0a

export function createNdjsonReader(): RecordReader {
  let rest: Buffer = Buffer.alloc(0)
  let line = 1
  let isDiscarding = false

  /** Returns undefined for a blank line. */
  function toRecord(bytes: Buffer): SourceRecord | undefined {
    if (!isUtf8(bytes)) return { line, problem: 'not UTF-8 text' }
    const text = bytes.toString('utf8').replace(line === 1 ? /^\ufeff/ : '', '')
    if (text.trim() === '') return undefined
    const row = parseBody(text)
    return row ? { line, row } : { line, problem: 'not a JSON object' }
  }

  return {
    push(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const records: SourceRecord[] = []
      let at = 0
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, at)) {
        const record = isDiscarding ? undefined : toRecord(bytes.subarray(at, end))
        if (record) records.push(record)
        isDiscarding = false
        line += 1
        at = end + 1
      }
      // Copied, because the chunk's buffer is reused.
      rest = isDiscarding ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at))
      if (rest.length > maxRecordBytes) {
        records.push({ line, problem: 'longer than 1 MiB' })
        isDiscarding = true
        rest = Buffer.alloc(0)
      }
      return records
    },
    end() {
      const record = rest.length === 0 ? undefined : toRecord(rest)
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
