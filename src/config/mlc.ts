/**
 * Reads the .mlc configuration syntax:
 *
 *     # comment
 *     server {
 *       port    = env(PORT, 3000)
 *       origins = [ "https://a.example", "https://b.example" ]
 *     }
 *
 * A syntax error is recorded with its line and column, and parsing continues on the next line, so that one run reports all.
 */
import { MlcLexer, type Position, SyntaxProblem } from './mlc-lexer.ts'
import { type Environment, type MlcValue, MlcValues, maxNesting } from './mlc-values.ts'

export interface MlcSection extends Position {
  kind: 'section'
  entries: Map<string, MlcValue | MlcSection>
}

export interface MlcProblem extends Position {
  message: string
}

export function emptySection(): MlcSection {
  return { kind: 'section', entries: new Map(), line: 1, column: 1 }
}

export function parseMlc(source: string, environment: Environment): { root: MlcSection; problems: MlcProblem[] } {
  const root = emptySection()
  const parser = new MlcParser(source, environment)
  parser.readEntries(root, 0)
  return { root, problems: parser.problems }
}

class MlcParser {
  readonly problems: MlcProblem[] = []
  readonly #lexer: MlcLexer
  readonly #values: MlcValues
  /** Whether a "}" may have been skipped. */
  #hasSkippedEnd = false

  constructor(source: string, environment: Environment) {
    this.#lexer = new MlcLexer(source)
    this.#values = new MlcValues(this.#lexer, environment)
  }

  readEntries(section: MlcSection, depth: number): void {
    const lexer = this.#lexer
    for (;;) {
      lexer.skipBlank()
      if (lexer.isAtEnd) {
        if (depth > 0 && !this.#hasSkippedEnd) this.#note(`section is never closed: "}" is missing`, section)
        return
      }
      if (lexer.next !== '}') {
        this.#tryEntry(section, depth)
        continue
      }
      if (depth === 0) this.#note('"}" closes nothing', lexer.position)
      lexer.take('}')
      if (depth > 0) return
    }
  }

  #tryEntry(section: MlcSection, depth: number): void {
    try {
      this.#readEntry(section, depth)
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error
      this.#note(error.message, error.position)
      // A "}" at the error still closes its section.
      if (this.#lexer.next !== '}' && this.#lexer.skipLine().includes('}')) this.#hasSkippedEnd = true
    }
  }

  #readEntry(section: MlcSection, depth: number): void {
    const lexer = this.#lexer
    const start = lexer.position
    const key = lexer.readKey()
    if (key === undefined) throw lexer.fail(`expected a key, found ${lexer.found()}`)
    lexer.skipSpaces()
    const earlier = section.entries.get(key)
    // The first one wins; the second is still parsed, so that its own errors are reported.
    if (earlier) this.#note(`repeated key "${key}" (first in line ${earlier.line})`, start)

    if (lexer.take('{')) {
      if (depth + 1 > maxNesting) throw this.#giveUp(start)
      const child: MlcSection = { kind: 'section', entries: new Map(), ...start }
      if (!earlier) section.entries.set(key, child)
      this.readEntries(child, depth + 1)
      return
    }
    if (!lexer.take('=')) throw lexer.fail(`expected "=" or "{" after "${key}", found ${lexer.found()}`)
    const value = this.#readValue(key)
    // Messages about the value point to its key.
    if (!earlier) section.entries.set(key, { ...value, ...start })
  }

  #readValue(key: string): MlcValue {
    const lexer = this.#lexer
    lexer.skipSpaces()
    const value = this.#values.read()
    lexer.skipSpaces()
    if (!lexer.isAtEnd && !/[\n\r}#]/.test(lexer.next ?? '') && !lexer.isAtEntry()) {
      throw lexer.fail(`unexpected ${lexer.found()} after the value of "${key}"; text with spaces needs "quotes"`)
    }
    return value
  }

  #giveUp(start: Position): SyntaxProblem {
    this.#hasSkippedEnd = true
    this.#lexer.skipRest()
    return this.#lexer.fail(`sections are nested more than ${maxNesting} deep`, start)
  }

  #note(message: string, { line, column }: Position): void {
    this.problems.push({ message, line, column })
  }
}
