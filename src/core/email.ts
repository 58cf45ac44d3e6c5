import { hash } from 'node:crypto'

const pattern =
  /^[^\s@"(),:;<>[\\\]]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i
export const maxEmailLength = 255

/** An email as it is kept and compared: without spaces around it, in lower case. */
export function normaliseEmail(given: string): string {
  return given.trim().toLowerCase()
}

export function isEmail(email: string): boolean {
  const [local = ''] = email.split('@', 1)
  // Control characters, invisible ones and odd spaces make two addresses look like one.
  return pattern.test(email) && local.length <= 64 && !/^\.|\.\.|\.$|[\p{C}\p{Z}]/u.test(email)
}

/** Whether anybody can have it: whatever is longer or holds a null character was never registered. */
export function isPossibleEmail(email: string): boolean {
  return email.length <= maxEmailLength && !email.includes('\0')
}

/** What attempts on an email are counted under. Nobody fills a table with megabytes of made-up ones. */
export function attemptKey(email: string): string {
  return isPossibleEmail(email) ? email : `sha256 ${hash('sha256', email, 'hex')}`
}
