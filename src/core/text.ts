/**
 * Lower-cases each code point by itself, so that a substring of a text is a substring of its lower case. Lower-casing the
 * whole text would not do: a capital sigma at the end of a word becomes ς, elsewhere σ.
 */
export function lowerByCodePoint(text: string): string {
  // Fast path: in ASCII both are the same.
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return Array.from(text, (character) => character.toLowerCase()).join('')
}

/** PostgreSQL cannot store U+0000, and neither engine a lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Lower-case words, joined by hyphens. */
export const hyphenatedName = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
