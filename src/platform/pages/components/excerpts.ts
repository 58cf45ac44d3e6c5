/** Two texts side by side: long ones are cut to where they begin to differ. */
const maxLength = 160
/** How much of what they have in common is shown before it. */
const sharedLength = 24

export function excerpts(from: string, to: string): [from: string, to: string] {
  if (from.length <= maxLength && to.length <= maxLength) return [from, to]
  let start = 0
  while (start < from.length && from[start] === to[start]) start += 1
  start = Math.max(0, start - sharedLength)
  return [excerpt(from, start), excerpt(to, start)]
}

function excerpt(text: string, start: number): string {
  const end = start + maxLength
  // Not half of a surrogate pair.
  const part = text.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`
}
