/**
 * Reads the .mlc configuration syntax:
 *
 *     # comment
 *     server {
 *       port    = env(PORT, 3000)
 *       origins = [ "https://a.example", "https://b.example" ]
 *     }
 *
 * A mistake is noted with its line and column, and reading goes on with the next line, so that one look shows them all.
 */

import { splitExpansions } from './expansions.ts'

export type Scalar = string | number | boolean | null

export interface Position {
  line: number
  column: number
}

/** `text` is what was written, before it was typed: a secret of digits stays a secret. Quoted text needs none. */
export interface MlcValue extends Position {
  kind: 'value'
  value: Scalar | MlcValue[]
  text?: string
}

export interface MlcSection extends Position {
  kind: 'section'
  entries: Map<string, MlcValue | MlcSection>
}

export interface MlcProblem extends Position {
  message: string
}

export type Environment = Readonly<Record<string, string | undefined>>

const maxNesting = 50
const keyPattern = /[A-Za-z0-9_]+/y
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y
const barePattern = /\$|[^\s#,[\]{}()"=$]+/y
const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', $: '$', n: '\n', r: '\r', t: '\t' }

export function parseMlc(source: string, environment: Environment): { root: MlcSection; problems: MlcProblem[] } {
  const problems: MlcProblem[] = []
  const root: MlcSection = { kind: 'section', entries: new Map(), line: 1, column: 1 }
  let at = 0
  let gaveUp = false

  readEntries(root, 0)
  return { root, problems }

  function readEntries(section: MlcSection, depth: number): void {
    for (;;) {
      skipBlank()
      if (at >= source.length) {
        if (depth > 0 && !gaveUp) note(`section is never closed: "}" is missing`, section)
        return
      }
      if (source[at] === '}') {
        if (depth > 0) {
          at += 1
          return
        }
        note('"}" closes nothing')
        at += 1
        continue
      }
      try {
        readEntry(section, depth)
      } catch (error) {
        if (!(error instanceof SyntaxProblem)) throw error
        problems.push({ message: error.message, ...error.position })
        // What the mistake stopped at may be the end of its section, which still ends it.
        if (source[at] !== '}') skipLine()
      }
    }
  }

  function readEntry(section: MlcSection, depth: number): void {
    const start = position()
    const key = match(keyPattern)
    if (key === undefined) throw fail(`expected a key, found ${found()}`)
    skipSpaces()
    const earlier = section.entries.get(key)
    // The first one stays; the second is read all the same, so that its own mistakes show too.
    if (earlier) problems.push({ message: `repeated key "${key}" (first in line ${earlier.line})`, ...start })

    if (source[at] === '{') {
      at += 1
      if (depth + 1 > maxNesting) {
        gaveUp = true
        at = source.length
        throw fail(`sections are nested more than ${maxNesting} deep`, start)
      }
      const child: MlcSection = { kind: 'section', entries: new Map(), ...start }
      if (!earlier) section.entries.set(key, child)
      readEntries(child, depth + 1)
      return
    }
    if (source[at] !== '=') throw fail(`expected "=" or "{" after "${key}", found ${found()}`)
    at += 1
    skipSpaces()
    const value = readValue(0)
    skipSpaces()
    if (at < source.length && !/[\n\r}#]/.test(source[at] ?? '') && !nextIsEntry()) {
      throw fail(`unexpected ${found()} after the value of "${key}"; text with spaces needs "quotes"`)
    }
    // The key's own place is where a complaint about its value should point.
    if (!earlier) section.entries.set(key, { ...value, ...start })
  }

  function readValue(depth: number): MlcValue {
    const start = position()
    const char = source[at]
    if (char === '[') return readList(start, depth)
    if (char === '"') return expand(readQuoted(), start, true)
    const call = readEnvCall(start, depth)
    if (call) return call
    const bare = readBare()
    if (bare === undefined) throw fail(`expected a value, found ${found()}`)
    return expand(bare, start, false)
  }

  function readBare(): string | undefined {
    const start = at
    for (;;) {
      const end = source.startsWith('${', at) ? source.indexOf('}', at) : -1
      if (end >= 0 && !source.slice(at, end).includes('\n')) at = end + 1
      else if (match(barePattern) === undefined) break
    }
    return at > start ? source.slice(start, at) : undefined
  }

  function readList(start: Position, depth: number): MlcValue {
    if (depth + 1 > maxNesting) throw fail(`lists are nested more than ${maxNesting} deep`, start)
    at += 1
    const items: MlcValue[] = []
    for (;;) {
      skipBlank()
      if (at >= source.length) throw fail('list is never closed: "]" is missing', start)
      if (source[at] === ']') break
      items.push(readValue(depth + 1))
      skipBlank()
      if (source[at] === ',') at += 1
      else if (at < source.length && source[at] !== ']') throw fail(`expected "," or "]" in the list, found ${found()}`)
    }
    at += 1
    return { kind: 'value', value: items, ...start }
  }

  function readQuoted(): string {
    const start = position()
    let text = ''
    at += 1
    for (;;) {
      const char = source[at]
      if (char === undefined || char === '\n') throw fail('text is never closed: " is missing', start)
      at += 1
      if (char === '"') return text
      if (char !== '\\') {
        text += char
        continue
      }
      const letter = source[at] ?? ''
      const hex = /^u([0-9A-Fa-f]{4})/.exec(source.slice(at, at + 5))?.[1]
      if (hex !== undefined) {
        text += String.fromCharCode(Number.parseInt(hex, 16))
        at += 5
      } else if (Object.hasOwn(escapes, letter)) {
        // An escaped dollar must not start an expansion: it is hidden from the expander until it has run.
        text += letter === '$' ? hiddenDollar : escapes[letter]
        at += 1
      } else throw fail(`unknown escape "\\${letter}"`)
    }
  }

  /** `env(NAME)` or `env(NAME, default)`. */
  function readEnvCall(start: Position, depth: number): MlcValue | undefined {
    if (!source.startsWith('env(', at)) return undefined
    at += 4
    skipSpaces()
    const quoted = source[at] === '"'
    const name = quoted ? readQuoted() : match(namePattern)
    if (!name) throw fail(`expected the name of an environment variable, found ${found()}`)
    skipSpaces()
    let fallback: MlcValue | undefined
    if (source[at] === ',') {
      at += 1
      skipSpaces()
      fallback = readValue(depth)
      skipSpaces()
    }
    if (source[at] !== ')') throw fail(`expected ")", found ${found()}`)
    at += 1
    const text = environment[name]
    if (text) return expanded(text, start)
    if (typeof fallback?.value === 'string') return expanded(fallback.value, start)
    return fallback ? { ...fallback, ...start } : { kind: 'value', value: null, ...start }
  }

  function expand(raw: string, start: Position, quoted: boolean): MlcValue {
    const parts = splitExpansions(raw)
    if (!parts) throw fail('malformed expansion: expected ${NAME} or ${NAME:-default}', start)
    const [first, only, last] = parts
    if (parts.length === 3 && typeof only === 'object' && first === '' && last === '') {
      return expanded(environment[only.name] || only.fallback, start)
    }
    const texts = parts.map((part) => {
      if (typeof part === 'string') return part
      const value = environment[part.name] || part.fallback
      if (value === undefined) throw fail(`environment variable ${part.name} is not set`, start)
      return value
    })
    const shown = texts.join('').replaceAll(hiddenDollar, '$')
    return quoted ? { kind: 'value', value: shown, ...start } : expanded(shown, start)
  }

  function nextIsEntry(): boolean {
    const before = at
    const isEntry = match(keyPattern) !== undefined && /^[ \t]*[={]/.test(source.slice(at, at + 200))
    at = before
    return isEntry && /[ \t]/.test(source[at - 1] ?? '')
  }

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const text = pattern.exec(source)?.[0]
    if (text !== undefined) at += text.length
    return text
  }

  function skipSpaces(): void {
    while (source[at] === ' ' || source[at] === '\t') at += 1
  }

  function skipBlank(): void {
    for (;;) {
      while (at < source.length && /\s|\uFEFF/.test(source[at] ?? '')) at += 1
      if (source[at] !== '#') return
      skipLine()
    }
  }

  function skipLine(): void {
    while (at < source.length && source[at] !== '\n') at += 1
  }

  function position(): Position {
    const before = source.slice(0, at)
    const line = before.split('\n').length
    return { line, column: at - before.lastIndexOf('\n') }
  }

  function found(): string {
    const char = source[at]
    if (char === undefined) return 'the end of the file'
    return char === '\n' || char === '\r' ? 'the end of the line' : `"${char}"`
  }

  function fail(message: string, where: Position = position()): SyntaxProblem {
    return new SyntaxProblem(message, { line: where.line, column: where.column })
  }

  function note(message: string, where: Position = position()): void {
    problems.push({ message, line: where.line, column: where.column })
  }
}

/** What an expansion or a bare word stands for, with its text beside its type. Empty means: not given. */
function expanded(text: string | undefined, start: Position): MlcValue {
  const value = text === undefined || text === '' ? null : typed(text)
  return { kind: 'value', value, ...(value !== null && text !== undefined && { text }), ...start }
}

/** Gives text its type: `true`, `false`, `null`, an integer, a float, or itself. */
export function typed(text: string): Scalar {
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  if (/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return Number(text)
  return text
}

// A character of Unicode's private use area, which no configuration file holds.
const hiddenDollar = '\uE000'

class SyntaxProblem extends Error {
  readonly position: Position
  constructor(message: string, position: Position) {
    super(message)
    this.position = position
  }
}
