/** SQLite's result codes. https://sqlite.org/rescode.html */
export const sqliteCodes = {
  busy: 5,
  locked: 6,
  outOfMemory: 7,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const

/** The low byte of an extended result code. Undefined if the error is not SQLite's. */
export function primaryCodeOf(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}
