/** Where somebody wanted to go before they had to sign in. */
const start = '/console'
/** Addresses of the console are shorter, searches included. */
const maxLength = 2048

/** A page of the console and nothing else: a link must not lead anybody who signs in to another site. */
export function placeOf(next: unknown): string {
  if (typeof next !== 'string' || next.length > maxLength) return start
  // What RFC 3986 lets stand in a path and a query. No backslash, which browsers take for a slash.
  if (!/^\/console(?:[/?][\w\-.~!$&'()*+,;=:@%/?]*)?$/.test(next)) return start
  // Browsers take steps up out of a path, however they are written.
  const [path = ''] = next.toLowerCase().split('?', 1)
  return path.replaceAll('%2e', '.').includes('..') ? start : next
}

/** The address of a page on the way there, which is told where it leads. */
export function withNext(path: string, next: string): string {
  return next === start ? path : `${path}?next=${encodeURIComponent(next)}`
}
