const pattern =
  /^[^\s@"(),:;<>[\\\]]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i
/** What nobody sees: with it two addresses look like one. U+2800 is a braille pattern without a dot. */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/u
/** In code points, as all lengths. */
export const maxEmailLength = 255
const maxLocalLength = 64
/** In UTF-16 units, so that looking costs nothing. No 255 code points have more, composed or not. */
const maxUnits = 1024

/** An email as it is kept and compared: without spaces around it, in Unicode's form NFKC and in lower case. */
export function normaliseEmail(given: string): string {
  const trimmed = given.trim()
  // Nobody has such a long one, and putting combining marks in order takes the square of their number.
  if (trimmed.length > maxUnits) return trimmed.toLowerCase()
  // Lower case may leave what the form would write in another way.
  return trimmed.normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** Whether it can be an address, as it was given. */
export function isEmail(given: string): boolean {
  const email = normaliseEmail(given)
  if (email.length > maxUnits || invisible.test(given)) return false
  const [local = ''] = email.split('@', 1)
  // Control characters, invisible ones and odd spaces make two addresses look like one.
  return pattern.test(email) && lengthOf(local) <= maxLocalLength && !/^\.|\.\.|\.$|[\p{C}\p{Z}]/u.test(email)
}

/** Whether a normalised one is longer than any may be. */
export function isTooLong(email: string): boolean {
  return lengthOf(email) > maxEmailLength
}

/** Whether anybody can have it: whatever is longer or holds a null character was never registered. */
export function isPossibleEmail(email: string): boolean {
  return !isTooLong(email) && !email.includes('\0')
}

function lengthOf(text: string): number {
  return text.length > maxUnits ? text.length : [...text].length
}
