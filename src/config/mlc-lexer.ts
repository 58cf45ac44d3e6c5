/** The characters of an .mlc file: where the reader stands, the words that come next, and what is blank between them. */

export interface Position {
  line: number
  column: number
}

const keyPattern = /[A-Za-z0-9_]+/y
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y
const barePattern = /\$|[^\s#,[\]{}()"=$]+/y
const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', $: '$', n: '\n', r: '\r', t: '\t' }

/**
 * Stands for an escaped dollar, which must not start an expansion, until expansions have been made. A character of
 * Unicode's private use area, which no configuration file holds.
 */
export const hiddenDollar = '\uE000'

/** Ends the reading of an entry. */
export class SyntaxProblem extends Error {
  readonly position: Position

  constructor(message: string, position: Position) {
    super(message)
    this.position = position
  }
}

export class MlcLexer {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** The next character; undefined at the end. */
  get next(): string | undefined {
    return this.#source[this.#at]
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length
  }

  get position(): Position {
    const before = this.#source.slice(0, this.#at)
    const line = before.split('\n').length
    return { line, column: this.#at - before.lastIndexOf('\n') }
  }

  /** Steps over `text` where it comes next; returns whether it did. */
  take(text: string): boolean {
    const isNext = this.#source.startsWith(text, this.#at)
    if (isNext) this.#at += text.length
    return isNext
  }

  readKey(): string | undefined {
    return this.#match(keyPattern)
  }

  /** Of an environment variable. */
  readName(): string | undefined {
    return this.#match(namePattern)
  }

  /** A word without quotes, which may hold expansions. */
  readBare(): string | undefined {
    const start = this.#at
    for (;;) {
      const end = this.#source.startsWith('${', this.#at) ? this.#source.indexOf('}', this.#at) : -1
      if (end >= 0 && !this.#source.slice(this.#at, end).includes('\n')) this.#at = end + 1
      else if (this.#match(barePattern) === undefined) break
    }
    return this.#at > start ? this.#source.slice(start, this.#at) : undefined
  }

  /** From its first quote to its last, without them. */
  readQuoted(): string {
    const start = this.position
    let text = ''
    this.#at += 1
    for (;;) {
      const char = this.next
      if (char === undefined || char === '\n') throw this.fail('text is never closed: " is missing', start)
      this.#at += 1
      if (char === '"') return text
      text += char === '\\' ? this.#readEscape() : char
    }
  }

  /** What follows the backslash. */
  #readEscape(): string {
    const letter = this.next ?? ''
    const hex = /^u([0-9A-Fa-f]{4})/.exec(this.#source.slice(this.#at, this.#at + 5))?.[1]
    if (hex !== undefined) {
      this.#at += 5
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    const escaped = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined
    if (escaped === undefined) throw this.fail(`unknown escape "\\${letter}"`)
    this.#at += 1
    return escaped === '$' ? hiddenDollar : escaped
  }

  /** Whether another entry follows on the same line. */
  isAtEntry(): boolean {
    const before = this.#at
    const isEntry = this.readKey() !== undefined && /^[ \t]*[={]/.test(this.#source.slice(this.#at, this.#at + 200))
    this.#at = before
    return isEntry && /[ \t]/.test(this.#source[before - 1] ?? '')
  }

  skipSpaces(): void {
    while (this.next === ' ' || this.next === '\t') this.#at += 1
  }

  /** Line breaks and comments too. */
  skipBlank(): void {
    for (;;) {
      while (!this.isAtEnd && /\s|\uFEFF/.test(this.next ?? '')) this.#at += 1
      if (this.next !== '#') return
      this.skipLine()
    }
  }

  skipLine(): void {
    while (!this.isAtEnd && this.next !== '\n') this.#at += 1
  }

  skipRest(): void {
    this.#at = this.#source.length
  }

  /** What comes next, as a message names it. */
  found(): string {
    const char = this.next
    if (char === undefined) return 'the end of the file'
    return char === '\n' || char === '\r' ? 'the end of the line' : `"${char}"`
  }

  fail(message: string, { line, column }: Position = this.position): SyntaxProblem {
    return new SyntaxProblem(message, { line, column })
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const text = pattern.exec(this.#source)?.[0]
    if (text !== undefined) this.#at += text.length
    return text
  }
}
