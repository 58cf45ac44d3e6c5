/** Responses for lists of values that several subscriptions yield: executed once for each selection. */
import { type ArgumentNode, type DocumentNode, Kind, visit } from 'graphql'
import type { Document } from '../execution/documents.ts'
import type { Prepared } from '../execution/engine.types.ts'

/** Texts of responses, in parts that are sent at once. */
export type Responses = readonly (readonly string[])[]

/** Of the responses that are kept, in characters. Subscribers that keep up ask for the same ones within milliseconds. */
const maxLength = 1024 * 1024
/** Of a part. Before the next, a client has to read. */
const maxPartLength = 64 * 1024

export function createSharedLists() {
  const ids = new WeakMap<object, number>()
  const names = new WeakMap<Document, readonly string[]>()
  /** By list and selection, the oldest first. */
  const recent = new Map<string, { responses: Promise<Responses>; length: number }>()
  let lastId = 0
  let length = 0

  function idOf(list: object): number {
    let id = ids.get(list)
    if (id === undefined) {
      id = ++lastId
      ids.set(list, id)
    }
    return id
  }

  async function keep(key: string, responses: Promise<Responses>): Promise<void> {
    const kept = { responses, length: 0 }
    recent.set(key, kept)
    const parts = await responses
    if (recent.get(key) !== kept) return
    kept.length = parts.reduce((sum, texts) => sum + lengthOf(texts), 0)
    length += kept.length
    for (const [oldest, each] of recent) {
      if (length <= maxLength) break
      recent.delete(oldest)
      length -= each.length
    }
  }

  return {
    /** Equal for subscriptions that answer the same for the same value, whatever the arguments of their fields are. */
    selectionKeyOf({ document, operationName = '', variables }: Prepared): string {
      let selecting = names.get(document)
      if (!selecting) {
        selecting = findSelecting(document.node)
        names.set(document, selecting)
      }
      const values = selecting.map((name) => variables[name] ?? null)
      return `${document.id} ${operationName} ${JSON.stringify(values)}`
    },

    find(list: object, selectionKey: string, execute: () => Promise<readonly string[]>): Promise<Responses> {
      const key = `${idOf(list)} ${selectionKey}`
      const known = recent.get(key)
      if (known) return known.responses
      const responses = execute().then(divide)
      void keep(key, responses)
      return responses
    },
  }
}

function divide(texts: readonly string[]): Responses {
  const parts: string[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const text of texts) {
    if (length + text.length > maxPartLength) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(text)
    length += text.length
  }
  return parts
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

/** The variables that occur anywhere but in the arguments of the root field. */
function findSelecting(node: DocumentNode): string[] {
  const found = new Set<string>()
  const rootArguments = new Set<ArgumentNode>()
  for (const each of node.definitions) {
    if (each.kind !== Kind.OPERATION_DEFINITION) continue
    for (const field of each.selectionSet.selections) {
      if (field.kind === Kind.FIELD) for (const argument of field.arguments ?? []) rootArguments.add(argument)
    }
  }
  visit(node, {
    VariableDefinition: () => false,
    Argument: (argument) => (rootArguments.has(argument) ? false : undefined),
    Variable({ name }) {
      found.add(name.value)
    },
  })
  return [...found].sort()
}
