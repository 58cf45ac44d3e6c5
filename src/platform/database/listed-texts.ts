/** A longer text is not read with its list but when its turn comes: a thousand of them may be a gigabyte. */
const maxListedBytes = 4096

/** The column, null where it is long. Neither engine reads a text to tell how many bytes it has. */
export function listedText(column: string): string {
  return `CASE WHEN octet_length(${column}) <= ${maxListedBytes} THEN ${column} END AS ${column}`
}
