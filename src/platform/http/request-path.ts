/**
 * The path that a request line asks for. Without the query, and without the host that the form for proxies holds
 * (RFC 9112, 3.2.2): both may tell secrets.
 */
export function pathOf(url: string): string {
  if (url.startsWith('/')) {
    const end = url.indexOf('?')
    return end === -1 ? url : url.slice(0, end)
  }
  const absolute = /^https?:\/\/[^/?#]*(\/[^?#]*)?/i.exec(url)
  return absolute ? (absolute[1] ?? '/') : '(not a path)'
}
