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

const secretMarks = ['lk_', 'eyJ', 'whsec_']
const tokenLength = 40

/** For logs and traces: somebody may have put a key or a token where the path should be. */
export function recordedPathOf(url: string): string {
  const segments = pathOf(url).split('/')
  return segments.map((segment) => (isSecretLike(segment) ? '(redacted)' : segment)).join('/')
}

/** API keys, also cut ones, JWTs, secrets of webhooks, and whatever is as long as a token. */
function isSecretLike(segment: string): boolean {
  if (secretMarks.some((mark) => segment.includes(mark))) return true
  return segment.length >= tokenLength && segment.split(/[^\w-]/).some((run) => run.length >= tokenLength)
}
