/** Reads forms with files (RFC 7578) as browsers send them. The time does not depend on what is in the body. */

export interface FormPart {
  name: string
  /** Undefined unless it is a file. */
  fileName: string | undefined
  /** A part of the body, not a copy. */
  content: Buffer
}

/** No form has more fields. */
const maxParts = 20
/** File names have at most 255 bytes on most systems. */
const maxHeadBytes = 2048
const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')
const parameter = 'boundary='
/** RFC 2046, 5.1.1. */
const maxBoundary = 70
const disposition = /^content-disposition: ?form-data; ?name="([^"]*)"(?:; ?filename="([^"]*)")?\r?$/im

/** Returns undefined if it is malformed. */
export function readMultipart(body: Buffer, contentType: string): FormPart[] | undefined {
  const boundary = findBoundary(contentType)
  if (boundary === undefined) return undefined
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const first = delimiter.subarray(lineEnd.length)
  if (!body.subarray(0, first.length).equals(first)) return undefined
  const parts: FormPart[] = []
  for (let at = first.length; ; ) {
    const next = body.toString('latin1', at, at + lineEnd.length)
    if (next === '--') return parts
    const found = next === '\r\n' && parts.length < maxParts ? readPart(body, at, delimiter) : undefined
    if (!found) return undefined
    parts.push(found.part)
    at = found.end
  }
}

function findBoundary(contentType: string): string | undefined {
  const at = contentType.toLowerCase().indexOf(parameter)
  if (at === -1) return undefined
  const given = contentType.slice(at + parameter.length)
  const [found = ''] = given.startsWith('"') ? given.slice(1).split('"', 1) : given.split(';', 1)
  const boundary = found.trim()
  return boundary !== '' && boundary.length <= maxBoundary ? boundary : undefined
}

function readPart(body: Buffer, start: number, delimiter: Buffer): { part: FormPart; end: number } | undefined {
  const headLength = body.subarray(start, start + maxHeadBytes).indexOf(headEnd)
  if (headLength === -1) return undefined
  const [, name, fileName] = disposition.exec(body.toString('utf8', start, start + headLength)) ?? []
  const contentStart = start + headLength + headEnd.length
  const contentEnd = body.indexOf(delimiter, contentStart)
  if (name === undefined || contentEnd === -1) return undefined
  const content = body.subarray(contentStart, contentEnd)
  return {
    part: { name: unescapeName(name), fileName: fileName === undefined ? undefined : unescapeName(fileName), content },
    end: contentEnd + delimiter.length,
  }
}

/** As the HTML standard has browsers write them. */
function unescapeName(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}
