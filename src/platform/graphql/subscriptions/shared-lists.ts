/** Responses for lists of values that several subscriptions yield: executed once for each selection. */
import { type ArgumentNode, type DocumentNode, Kind, visit } from 'graphql'
import type { Document } from '../execution/documents.ts'
import type { Prepared } from '../execution/engine.types.ts'

/** Texts of responses, in parts that are sent at once. */
export type Responses = readonly (readonly string[])[]

/** Of what is kept. Subscribers that keep up ask for the same responses within milliseconds. */
const maxBytes = 4 * 1024 * 1024
/** Each response is kept as a text and, by its WeakMap in memoize-list.ts, encoded for up to three protocols. */
const copies = 4
/** Of objects, beside what is in them. */
const entryBytes = 512
const textBytes = 128
/** Of a part. Before the next, a client has to read. */
const maxPartLength = 64 * 1024

export function createSharedLists() {
  const ids = new WeakMap<object, number>()
  const names = new WeakMap<Document, readonly string[]>()
  /** By list and selection, the oldest first. */
  const recent = new Map<string, { responses: Promise<Responses>; bytes: number }>()
  let lastId = 0
  let bytes = 0

  function idOf(list: object): number {
    let id = ids.get(list)
    if (id === undefined) {
      id = ++lastId
      ids.set(list, id)
    }
    return id
  }

  async function keep(key: string, responses: Promise<Responses>): Promise<void> {
    const kept = { responses, bytes: 0 }
    recent.set(key, kept)
    // What fails is not kept; who asked for it is told. Nothing else removes it while its size is not known.
    const parts = await responses.catch(() => undefined)
    if (!parts) return void recent.delete(key)
    kept.bytes = entryBytes + 2 * key.length + parts.reduce((sum, texts) => sum + bytesOf(texts), 0)
    bytes += kept.bytes
    for (const [oldest, each] of recent) {
      if (bytes <= maxBytes) break
      if (each.bytes === 0) continue
      recent.delete(oldest)
      bytes -= each.bytes
    }
  }

  return {
    keptBytes: () => bytes,

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

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + copies * (textBytes + Buffer.byteLength(text)), 0)
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
