/** The page to return to after signing in. */
const start = '/console'
/** Longer than any URL of the console. */
const maxLength = 2048

/** Only pages of the console are accepted, to prevent open redirects. */
export function placeOf(next: unknown): string {
  if (typeof next !== 'string' || next.length > maxLength) return start
  // The characters that RFC 3986 allows in a path and a query. No backslash, which browsers treat as a slash.
  if (!/^\/console(?:[/?][\w\-.~!$&'()*+,;=:@%/?]*)?$/.test(next)) return start
  // Browsers resolve "..", also when it is percent-encoded.
  const [path = ''] = next.toLowerCase().split('?', 1)
  return path.replaceAll('%2e', '.').includes('..') ? start : next
}

/** Adds `next` to the URL of a page on the way there. */
export function withNext(path: string, next: string): string {
  return next === start ? path : `${path}?next=${encodeURIComponent(next)}`
}
