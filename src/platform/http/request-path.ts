/**
 * The path of a request target, without the query and without the authority of the absolute form (RFC 9112, 3.2.2),
 * which may both contain secrets.
 */
export function pathOf(url: string): string {
  if (url.startsWith('/')) {
    const end = url.indexOf('?')
    return end === -1 ? url : url.slice(0, end)
  }
  const absolute = /^https?:\/\/[^/?#]*(\/[^?#]*)?/i.exec(url)
  return absolute ? (absolute[1] ?? '/') : '(not a path)'
}
