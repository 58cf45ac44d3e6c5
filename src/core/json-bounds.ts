/** Checked before JSON of strangers is parsed, which builds every value and every level. */
export interface JsonBounds {
  /** Of lists and objects. */
  maxDepth: number
  /** Of all levels together. */
  maxValues: number
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const opening: ReadonlySet<number> = new Set([0x7b, 0x5b])
const closing: ReadonlySet<number> = new Set([0x7d, 0x5d])

/** Returns what there is too much of. The text need not be valid. */
export function findJsonExcess(text: string, { maxDepth, maxValues }: JsonBounds): 'depth' | 'values' | undefined {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      if (at === -1) return undefined
    } else if (opening.has(code)) {
      values += 1
      depth += 1
      if (depth > maxDepth) return 'depth'
    } else if (closing.has(code)) depth -= 1
    else if (code === comma) values += 1
    if (values > maxValues) return 'values'
  }
  return undefined
}

/** Returns the index of the closing quote; -1 if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return -1
}
