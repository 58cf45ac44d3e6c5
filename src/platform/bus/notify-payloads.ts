/**
 * PostgreSQL limits the payload of NOTIFY to less than 8000 bytes. A longer text is sent in parts of one transaction,
 * which the server delivers in order and without others between them.
 */

/** The server's limit for a payload. */
export const maxPayloadBytes = 7999
/** Room for the header of a part: `#12:3/40:`. No JSON text starts like that. */
const maxPartBytes = maxPayloadBytes - 60

/**
 * `number` tells texts of one sender apart: within a transaction, the server drops a notification that is equal to an
 * earlier one.
 */
export function toPayloads(text: string, number: number): string[] {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxPayloadBytes) return [text]
  const parts: string[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = characterStart(bytes, Math.min(start + maxPartBytes, bytes.length))
    parts.push(bytes.toString('utf8', start, end))
    start = end
  }
  return parts.map((part, i) => `#${number}:${i + 1}/${parts.length}:${part}`)
}

/** Moves back to the start of a character, because a payload must be valid UTF-8. */
function characterStart(bytes: Buffer, end: number): number {
  let start = end
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  return start
}

interface Partial {
  number: string
  parts: string[]
}

/** Puts texts together again. */
export function createPayloadReader() {
  /** By sender and channel. */
  const partials = new Map<string, Partial>()

  return {
    /** Returns the text once it is complete. */
    read(sender: string, payload: string): string | undefined {
      if (!payload.startsWith('#')) return payload
      const [, number = '', position = '', count = ''] = /^#(\d{1,16}):(\d{1,9})\/(\d{1,9}):/.exec(payload) ?? []
      const known = partials.get(sender)
      const partial = position === '1' || known?.number !== number ? { number, parts: [] } : known
      // The first parts were sent before this connection listened.
      if (partial.parts.length !== Number(position) - 1) return undefined
      partial.parts.push(payload.slice(`#${number}:${position}/${count}:`.length))
      if (partial.parts.length < Number(count)) {
        partials.set(sender, partial)
        return undefined
      }
      partials.delete(sender)
      return partial.parts.join('')
    },
    /** For a new connection. */
    clear: () => partials.clear(),
  }
}
