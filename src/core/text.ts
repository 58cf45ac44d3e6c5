/**
 * Lower case, code point by code point, which is the same on every engine. The whole text at once would not do: a sigma at
 * the end of a word has a lower case of its own, so that a part of a text would not be found in it.
 */
export function lowerByCodePoint(text: string): string {
  // Most need no second look.
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return Array.from(text, (character) => character.toLowerCase()).join('')
}

/** Whether a text can be kept as it is: PostgreSQL has no place for a null character, and neither engine for half a pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
