const pattern =
  /^[^\s@"(),:;<>[\\\]]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i
/** Characters without a glyph, with which two addresses would look the same. U+2800 is the blank braille pattern. */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/u
/** In code points. */
export const maxEmailLength = 255
const maxLocalLength = 64
/** In UTF-16 units, which are free to count. 255 code points never have more, composed or not. */
const maxUnits = 1024

/** The form in which emails are stored and compared: trimmed, NFKC, lower case. */
export function normaliseEmail(given: string): string {
  const trimmed = given.trim()
  // Too long to be an address, and normalising many combining marks takes quadratic time.
  if (trimmed.length > maxUnits) return trimmed.toLowerCase()
  // Lower-casing can produce text that is no longer in NFKC.
  return trimmed.normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** Takes the email as it was sent: normalising would hide some of the characters that are refused. */
export function isEmail(given: string): boolean {
  const email = normaliseEmail(given)
  if (email.length > maxUnits || invisible.test(given)) return false
  const [local = ''] = email.split('@', 1)
  // Control and space characters would make two addresses look the same.
  return pattern.test(email) && lengthOf(local) <= maxLocalLength && !/^\.|\.\.|\.$|[\p{C}\p{Z}]/u.test(email)
}

/** Takes a normalised email. */
export function isTooLong(email: string): boolean {
  return lengthOf(email) > maxEmailLength
}

/** False if no registered user can have this normalised email, so that it need not be looked up. */
export function isPossibleEmail(email: string): boolean {
  return !isTooLong(email) && !email.includes('\0')
}

function lengthOf(text: string): number {
  return text.length > maxUnits ? text.length : [...text].length
}
