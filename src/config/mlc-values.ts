/** Parses the values of .mlc files: words, quoted text, lists and references to the environment. */
import { splitExpansions } from './expansions.ts'
import { escapedDollar, type MlcLexer, type Position } from './mlc-lexer.ts'

export type Scalar = string | number | boolean | null

export interface MlcValue extends Position {
  kind: 'value'
  value: Scalar | MlcValue[]
  /** The text before it was typed, so that a secret of digits keeps its leading zeros. Absent for quoted text. */
  text?: string
}

export type Environment = Readonly<Record<string, string | undefined>>

export const maxNesting = 50

export class MlcValues {
  readonly #lexer: MlcLexer
  readonly #environment: Environment

  constructor(lexer: MlcLexer, environment: Environment) {
    this.#lexer = lexer
    this.#environment = environment
  }

  /** Throws SyntaxProblem. `depth` is the number of enclosing lists. */
  read(depth = 0): MlcValue {
    const lexer = this.#lexer
    const start = lexer.position
    if (lexer.next === '[') return this.#readList(start, depth)
    if (lexer.next === '"') {
      const value = this.#expand(lexer.readQuoted(), start)
      return typeof value === 'string' ? { kind: 'value', value, ...start } : value
    }
    if (lexer.take('env(')) return this.#readEnvCall(start, depth)
    const bare = lexer.readBare()
    if (bare === undefined) throw lexer.fail(`expected a value, found ${lexer.found()}`)
    const value = this.#expand(bare, start)
    return typeof value === 'string' ? expanded(value, start) : value
  }

  #readList(start: Position, depth: number): MlcValue {
    const lexer = this.#lexer
    if (depth + 1 > maxNesting) throw lexer.fail(`lists are nested more than ${maxNesting} deep`, start)
    lexer.take('[')
    const items: MlcValue[] = []
    for (;;) {
      lexer.skipBlank()
      if (lexer.isAtEnd) throw lexer.fail('list is never closed: "]" is missing', start)
      if (lexer.take(']')) return { kind: 'value', value: items, ...start }
      items.push(this.read(depth + 1))
      lexer.skipBlank()
      if (!lexer.take(',') && !lexer.isAtEnd && lexer.next !== ']') {
        throw lexer.fail(`expected "," or "]" in the list, found ${lexer.found()}`)
      }
    }
  }

  /** Parses the rest of `env(NAME)` or `env(NAME, default)`. */
  #readEnvCall(start: Position, depth: number): MlcValue {
    const lexer = this.#lexer
    lexer.skipSpaces()
    const name = lexer.next === '"' ? lexer.readQuoted() : lexer.readName()
    if (!name) throw lexer.fail(`expected the name of an environment variable, found ${lexer.found()}`)
    lexer.skipSpaces()
    let fallback: MlcValue | undefined
    if (lexer.take(',')) {
      lexer.skipSpaces()
      fallback = this.read(depth)
      lexer.skipSpaces()
    }
    if (!lexer.take(')')) throw lexer.fail(`expected ")", found ${lexer.found()}`)
    const text = this.#environment[name]
    if (text) return expanded(text, start)
    if (typeof fallback?.value === 'string') return expanded(fallback.value, start)
    return fallback ? { ...fallback, ...start } : { kind: 'value', value: null, ...start }
  }

  /** Returns the expanded text, or a typed value if the whole text is one expansion. */
  #expand(raw: string, start: Position): string | MlcValue {
    const parts = splitExpansions(raw)
    if (!parts) throw this.#lexer.fail('malformed expansion: expected ${NAME} or ${NAME:-default}', start)
    const [first, only, last] = parts
    if (parts.length === 3 && typeof only === 'object' && first === '' && last === '') {
      return expanded(this.#environment[only.name] || only.fallback, start)
    }
    const texts = parts.map((part) => {
      if (typeof part === 'string') return part
      const value = this.#environment[part.name] || part.fallback
      if (value === undefined) throw this.#lexer.fail(`environment variable ${part.name} is not set`, start)
      return value
    })
    return texts.join('').replaceAll(escapedDollar, '$')
  }
}

/** The typed value of an expansion or a bare word. Empty text is null, that is, not set. */
function expanded(text: string | undefined, start: Position): MlcValue {
  const value = text === undefined || text === '' ? null : typed(text)
  return { kind: 'value', value, ...(value !== null && text !== undefined && { text }), ...start }
}

/** Parses `true`, `false`, `null` and numbers; anything else stays text. */
export function typed(text: string): Scalar {
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  if (/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return Number(text)
  return text
}
