/** Longer texts are loaded one by one when they are sent: a list of a thousand could take a gigabyte of memory. */
const maxListedBytes = 4096

/** Selects the column, or null if its text is long. Both engines know the length without reading the text. */
export function listedText(column: string): string {
  return `CASE WHEN octet_length(${column}) <= ${maxListedBytes} THEN ${column} END AS ${column}`
}
