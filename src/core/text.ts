/** Whether a text can be kept as it is: PostgreSQL has no place for a null character, and neither engine for half a pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
