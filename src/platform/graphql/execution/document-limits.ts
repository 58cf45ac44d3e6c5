/** How large a document may be, measured before anything is done with it whose cost could grow faster than its text. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql'
import { countOverlaps } from './overlap-cost.ts'
import { RefusedRequest } from './refused-request.ts'

export interface DocumentLimits {
  bytes: number
  tokens: number
  depth: number
  aliases: number
}

/** Fields of an operation, and of all together. Those that fragments lead to count each time, and the fragments too. */
const maxFields = 2000
const maxFieldsOfAll = 5000

/** What validation may compare, at about a microsecond each: nobody else is served meanwhile. */
const maxPairs = 20_000

/** The place of an error is found by counting lines, anew for each. */
const maxLines = 2000

/** Aliases come back with every object of a list, and names with every error. */
const maxName = 255

/** Brackets in brackets of any kind. The parser calls itself for each, so more of them could exhaust the stack. */
const maxNesting = 100

/** How many mistakes of one request are told. */
export const maxProblems = 10

/** Counts without calling itself, so that no document is too deep for it. Returns how many tokens there are. */
export function measureText(text: string, limits: DocumentLimits): number {
  if (text.length > limits.bytes || Buffer.byteLength(text) > limits.bytes) {
    throw tooLarge(`is longer than ${limits.bytes} bytes; long values go into variables`)
  }
  const lexer = new Lexer(new Source(text))
  let tokens = 0
  let nesting = 0
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1
    if (tokens > limits.tokens) throw tooLarge(`has more than ${limits.tokens} tokens`)
    if (token.line > maxLines) throw tooLarge(`has more than ${maxLines} lines`)
    if (token.kind === TokenKind.NAME && token.value.length > maxName) {
      throw tooLarge(`has a name of more than ${maxName} characters`)
    }
    if (opening.has(token.kind)) nesting += 1
    else if (closing.has(token.kind)) nesting -= 1
    if (nesting > maxNesting) throw tooLarge(`is nested more than ${maxNesting} levels deep`)
  }
  return tokens
}

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

interface Measure {
  depth: number
  aliases: number
  fields: number
}

const nothing: Measure = { depth: 0, aliases: 0, fields: 0 }

/**
 * Each fragment is measured once, however often it is spread: the numbers may explode, the work does not. Returns the
 * fields of all operations and fragments.
 */
export function measureDocument(document: DocumentNode, limits: DocumentLimits): { fields: number } {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each)
  }
  const measured = new Map<string, Measure | undefined>()
  const roots = document.definitions.flatMap((each) => ('selectionSet' in each ? [each.selectionSet] : []))

  let total = 0
  for (const root of roots) {
    const { depth, aliases, fields } = measure(root)
    total += fields
    if (depth > limits.depth) throw tooLarge(`is more than ${limits.depth} fields deep`)
    if (aliases > limits.aliases) throw tooLarge(`has more than ${limits.aliases} aliases`)
    if (fields > maxFields) throw tooLarge(`has more than ${maxFields} fields`)
    if (total > maxFieldsOfAll) throw tooLarge(`has operations with more than ${maxFieldsOfAll} fields together`)
  }
  let pairs = 0
  for (const root of roots) {
    pairs += countOverlaps(root, fragments)
    if (pairs > maxPairs) throw tooLarge('repeats the same fields or fragments too often')
  }
  return { fields: total }

  function measure({ selections }: SelectionSetNode): Measure {
    const total = { ...nothing }
    for (const selection of selections) {
      let inner = nothing
      if (selection.kind === Kind.FRAGMENT_SPREAD) inner = measureFragment(selection.name.value)
      else if (selection.selectionSet) inner = measure(selection.selectionSet)
      const isField = selection.kind === Kind.FIELD
      // What describes the schema is deep by nature; a rule of the validation limits it.
      const isDescribing = isField && selection.name.value.startsWith('__')
      if (!isDescribing) total.depth = Math.max(total.depth, inner.depth + (isField ? 1 : 0))
      total.aliases += inner.aliases + (isField && selection.alias ? 1 : 0)
      total.fields += inner.fields + 1
    }
    return total
  }

  function measureFragment(name: string): Measure {
    const known = measured.get(name)
    if (known) return known
    // Validation refuses it too, after it has followed it for long.
    if (measured.has(name)) throw leadsToItself(name)
    measured.set(name, undefined)
    const fragment = fragments.get(name)
    const result = fragment ? measure(fragment.selectionSet) : nothing
    measured.set(name, result)
    return result
  }
}

function leadsToItself(fragment: string): RefusedRequest {
  return new RefusedRequest('document', [
    {
      message: `Cannot spread fragment "${fragment}" within itself.`,
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    },
  ])
}

function tooLarge(problem: string): RefusedRequest {
  return new RefusedRequest('document', [
    { message: `The document ${problem}`, extensions: { code: 'DOCUMENT_TOO_LARGE' } },
  ])
}
