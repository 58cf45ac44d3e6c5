/** Long texts of one repeated piece, which make a careless parser or pattern backtrack. */

export interface RepetitiveText {
  name: string
  /** Returns a text of this length. */
  make(length: number): string
}

const pieces: Record<string, string> = {
  spaces: ' ',
  dots: '.',
  letters: 'a',
  digits: '1',
  quotes: '"',
  apostrophes: "'",
  commas: ',',
  'numbers with commas': '111,',
  hyphens: '-',
  slashes: '/',
  backslashes: '\\',
  'opening brackets': '[',
  'nested brackets': '{"a":[',
  'opening braces': '{ a ',
  'variable marks': '${',
  tags: '<a ',
  'percent signs': '%',
  'line breaks': '\n',
  'spaces and line breaks': ' \n',
  'combining marks': '\u0301',
  'marked letters': 'a\u0300\u0315',
  'at signs': 'a@',
  'semicolons and equals signs': 'a=b;',
}

/** Each ends with a different character, so that a match fails at the end. */
export const repetitiveTexts: readonly RepetitiveText[] = Object.entries(pieces).map(([name, piece]) => ({
  name,
  make: (length) => repeat(piece, length),
}))

export function repeat(piece: string, length: number): string {
  return `${piece.repeat(Math.max(1, Math.floor((length - 2) / piece.length)))}\n!`
}

/** Reduces a text to valid header characters: the parser refuses all others. */
export function forHeader(text: string): string {
  return text.replace(/[^\t\x20-\x7e]+/g, '').trim()
}
