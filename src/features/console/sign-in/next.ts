/** Where somebody wanted to go before they had to sign in. */
const start = '/console'

/** A page of the console and nothing else: a link must not lead anybody who signs in to another site. */
export function placeOf(next: unknown): string {
  // What RFC 3986 lets stand in a path and a query. No backslash, which browsers take for a slash.
  if (typeof next !== 'string' || !/^\/console(?:[/?][\w\-.~!$&'()*+,;=:@%/?]*)?$/.test(next)) return start
  // Browsers take steps up out of a path, however they are written.
  return /^[^?]*(?:\.|%2e){2}/i.test(next) ? start : next
}

/** The address of a page on the way there, which is told where it leads. */
export function withNext(path: string, next: string): string {
  return next === start ? path : `${path}?next=${encodeURIComponent(next)}`
}
