export interface Position {
  line: number
  column: number
}

const blankPattern = /(?:[\s\uFEFF]|#[^\n]*)*/y
const keyPattern = /[A-Za-z0-9_]+/y
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y
const barePattern = /\$|[^\s#,[\]{}()"=$]+/y
const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', $: '$', n: '\n', r: '\r', t: '\t' }

/**
 * Placeholder for `\$` until expansions have been made, because an escaped dollar must not start one. From Unicode's
 * private use area, so that it does not occur in configuration files.
 */
export const escapedDollar = '\uE000'

/** Aborts the current entry. */
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
  /** The line of the last position that was asked for, and where it starts. */
  #line = 1
  #lineStart = 0

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
    for (let next = this.#lineEnd(); next < this.#at; next = this.#lineEnd()) {
      this.#line += 1
      this.#lineStart = next + 1
    }
    return { line: this.#line, column: this.#at - this.#lineStart + 1 }
  }

  /** Consumes `text` if it comes next. Returns whether it did. */
  take(text: string): boolean {
    const isNext = this.#source.startsWith(text, this.#at)
    if (isNext) this.#at += text.length
    return isNext
  }

  readKey(): string | undefined {
    return this.#match(keyPattern)
  }

  /** The name of an environment variable. */
  readName(): string | undefined {
    return this.#match(namePattern)
  }

  /** An unquoted word, with its expansions. */
  readBare(): string | undefined {
    const start = this.#at
    for (;;) {
      const end = this.#source.startsWith('${', this.#at) ? this.#source.indexOf('}', this.#at) : -1
      if (end >= 0 && !this.#source.slice(this.#at, end).includes('\n')) this.#at = end + 1
      else if (this.#match(barePattern) === undefined) break
    }
    return this.#at > start ? this.#source.slice(start, this.#at) : undefined
  }

  /** Returns the text between the quotes. */
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
    return escaped === '$' ? escapedDollar : escaped
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

  /** Skips white space, line breaks and comments. */
  skipBlank(): void {
    this.#match(blankPattern)
  }

  /** Returns what was skipped. */
  skipLine(): string {
    const start = this.#at
    const end = this.#source.indexOf('\n', start)
    this.#at = end < 0 ? this.#source.length : end
    return this.#source.slice(start, this.#at)
  }

  skipRest(): void {
    this.#at = this.#source.length
  }

  /** Describes the next character for an error message. */
  found(): string {
    const char = this.next
    if (char === undefined) return 'the end of the file'
    return char === '\n' || char === '\r' ? 'the end of the line' : `"${char}"`
  }

  fail(message: string, { line, column }: Position = this.position): SyntaxProblem {
    return new SyntaxProblem(message, { line, column })
  }

  #lineEnd(): number {
    const end = this.#source.indexOf('\n', this.#lineStart)
    return end < 0 ? this.#source.length : end
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const text = pattern.exec(this.#source)?.[0]
    if (text !== undefined) this.#at += text.length
    return text
  }
}
