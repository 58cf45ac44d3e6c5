/** Long texts of one repeated piece: what makes a careless parser or pattern try the same over and over. */

export interface RepetitiveText {
  name: string
  /** Of so many characters. */
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

/** Each ends with something else, so that what matched up to there fails at the end. */
export const repetitiveTexts: readonly RepetitiveText[] = Object.entries(pieces).map(([name, piece]) => ({
  name,
  make: (length) => repeat(piece, length),
}))

export function repeat(piece: string, length: number): string {
  return `${piece.repeat(Math.max(1, Math.floor((length - 2) / piece.length)))}\n!`
}

/** The part of it that a header may carry: the parser refuses everything else before we see it. */
export function forHeader(text: string): string {
  return text.replace(/[^\t\x20-\x7e]+/g, '').trim()
}
