/** Size limits of documents, checked before any work whose cost may grow faster than the text. */
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

/** Per operation, and for all together. Fragments are counted at each spread, with all their fields. */
const maxFields = 2000
const maxFieldsOfAll = 5000

/** Limit of comparisons in OverlappingFieldsCanBeMerged, which block the event loop for about a microsecond each. */
const maxPairs = 20_000

/** graphql-js counts lines from the start for each error location. */
const maxLines = 2000

/** Aliases are repeated in every object of a list, names in every error. */
const maxName = 255

/** Nesting of brackets of any kind. The parser is recursive: deeper documents could exhaust the stack. */
const maxNesting = 100

/** Limit of errors reported for one request. */
export const maxProblems = 10

/** Returns the number of tokens. Not recursive, so no nesting can exhaust its stack. */
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

const emptyMeasure: Measure = { depth: 0, aliases: 0, fields: 0 }

/**
 * Returns the number of fields of all operations and fragments. Each fragment is measured once, however often it is
 * spread: the totals may grow exponentially, the work does not.
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
    const total = { ...emptyMeasure }
    for (const selection of selections) {
      let inner = emptyMeasure
      if (selection.kind === Kind.FRAGMENT_SPREAD) inner = measureFragment(selection.name.value)
      else if (selection.selectionSet) inner = measure(selection.selectionSet)
      const isField = selection.kind === Kind.FIELD
      // Introspection is deep by nature; a validation rule limits it.
      const isIntrospection = isField && selection.name.value.startsWith('__')
      if (!isIntrospection) total.depth = Math.max(total.depth, inner.depth + (isField ? 1 : 0))
      total.aliases += inner.aliases + (isField && selection.alias ? 1 : 0)
      total.fields += inner.fields + 1
    }
    return total
  }

  function measureFragment(name: string): Measure {
    const known = measured.get(name)
    if (known) return known
    // Validation rejects cycles too, but only after costly traversal.
    if (measured.has(name)) throw fragmentCycle(name)
    measured.set(name, undefined)
    const fragment = fragments.get(name)
    const result = fragment ? measure(fragment.selectionSet) : emptyMeasure
    measured.set(name, result)
    return result
  }
}

function fragmentCycle(fragment: string): RefusedRequest {
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
