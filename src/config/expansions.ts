/** `${NAME}` and `${NAME:-default}` inside a text of the configuration. */
export interface Expansion {
  name: string
  fallback: string | undefined
}

/** Splits `a${B:-c}d` into alternating text and expansions. Returns undefined if an expansion is malformed. */
export function splitExpansions(raw: string): (string | Expansion)[] | undefined {
  const [first = '', ...rest] = raw.split('${')
  const parts: (string | Expansion)[] = [first]
  for (const each of rest) {
    const end = each.indexOf('}')
    if (end < 0) return undefined
    const [name = '', ...more] = each.slice(0, end).split(':-')
    const fallback = more.length === 0 ? undefined : more.join(':-')
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || fallback?.includes('\n')) return undefined
    parts.push({ name, fallback }, each.slice(end + 1))
  }
  return parts
}
