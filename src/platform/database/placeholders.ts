/** Replaces the placeholders `$1`, `$2` and so on. Skips quoted text and comments. */
export function replacePlaceholders(sql: string, replace: (number: string) => string): string {
  let replaced = ''
  for (let at = 0; at < sql.length; ) {
    const closing = sql.startsWith('--', at) ? '\n' : sql[at] === "'" || sql[at] === '"' ? sql[at] : undefined
    if (closing !== undefined) {
      const found = sql.indexOf(closing, at + 1)
      const end = found < 0 ? sql.length : found + 1
      replaced += sql.slice(at, end)
      at = end
    } else if (sql[at] === '$' && isDigit(sql[at + 1])) {
      let end = at + 1
      while (isDigit(sql[end])) end += 1
      replaced += replace(sql.slice(at + 1, end))
      at = end
    } else {
      replaced += sql[at]
      at += 1
    }
  }
  return replaced
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}
