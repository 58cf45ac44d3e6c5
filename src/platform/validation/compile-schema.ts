/** Compiles a schema to a function that validates and reads values. A keyword that nothing checks stops the start. */
import { compileByAjv, countItems } from './ajv-rules.ts'
import { compilePlain, isBlank, isPlain } from './plain-values.ts'
import type { Problems } from './problems.ts'
import { descriptive, type Property } from './schema-property.ts'

export interface Source {
  /** Numbers and booleans are parsed from text. */
  isForm: boolean
  /** The original text of the object's own numbers. Undefined if floats represent them all exactly. */
  written?: ReadonlyMap<string, string> | undefined
  problems: Problems
}

/** Returns the value. Adds problems to `source.problems`. */
type ReadValue = (raw: unknown, source: Source, path: string, written?: string) => unknown

export type ReadObject = (
  given: Readonly<Record<string, unknown>>,
  source: Source,
  path: string,
) => Record<string, unknown>

interface Field {
  name: string
  read: ReadValue
}

/** Unknown fields are dropped, or refused if `additionalProperties` is false. */
export function compileObject(schema: Property, path: string): ReadObject {
  requireKnown(schema, ['type', 'properties', 'required', 'additionalProperties'], path)
  const required = new Set(schema.required ?? [])
  const properties = schema.properties ?? {}
  const fields: Field[] = Object.entries(properties).map(([name, property]) => ({
    name,
    read: compileField(property, required.has(name), joinPath(path, name)),
  }))
  const isClosed = schema.additionalProperties === false
  return (given, source, path) => {
    const value: Record<string, unknown> = {}
    for (const { name, read } of fields) {
      const raw = Object.hasOwn(given, name) ? given[name] : undefined
      const written = source.isForm ? String(raw).trim() : source.written?.get(name)
      const field = read(raw, source, joinPath(path, name), written)
      if (field !== undefined) value[name] = field
    }
    if (isClosed) {
      for (const name of Object.keys(given)) {
        if (source.problems.isFull) break
        if (!Object.hasOwn(properties, name)) source.problems.add(joinPath(path, name), ['Is not known'])
      }
    }
    return value
  }
}

/** Handles missing and blank fields, then the value. */
function compileField(schema: Property, isRequired: boolean, path: string): ReadValue {
  const read = compileValue(schema, path)
  const mustNotBeBlank = schema['x-not-blank'] === true
  const missing = schema['x-or-empty'] ? '' : schema.default
  const isRefused = isRequired && (mustNotBeBlank || !schema['x-or-empty'])
  return (given, source, path, written) => {
    const raw = source.isForm ? fromForm(schema, given) : given
    const isMissing = raw === undefined || raw === null
    if (isMissing) return isRefused ? refuse(source, path) : missing
    if (mustNotBeBlank && isBlank(raw)) return refuse(source, path)
    return read(raw, source, path, written)
  }
}

function refuse({ problems }: Source, path: string): undefined {
  problems.add(path, ['Must not be blank'])
  return undefined
}

function compileValue(schema: Property, path: string): ReadValue {
  if (isPlain(schema)) {
    const read = compilePlain(schema)
    return (raw, { problems }, path, written) => {
      const outcome = read(raw, written)
      if ('value' in outcome) return outcome.value
      problems.add(path, outcome.problems)
      return undefined
    }
  }
  if (schema.type === 'object' && schema.properties) {
    const read = compileObject(schema, path)
    return (raw, source, path) => {
      if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
        source.problems.add(path, ['Must be an object'])
        return undefined
      }
      return read(raw as Record<string, unknown>, { problems: source.problems, isForm: false }, path)
    }
  }
  if (schema.type === 'array' && schema.items) return compileList(schema, schema.items, path)
  return compileWithAjv(schema, path)
}

function compileList(schema: Property, items: Property, path: string): ReadValue {
  requireKnown(schema, ['type', 'items', 'minItems', 'maxItems', 'uniqueItems'], path)
  const isOfTexts = items.type === 'string'
  const read = compileValue(items, `${path}.0`)
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems = false } = schema
  return (raw, { problems }, path) => {
    const isList = Array.isArray(raw)
    if (!isList || (isOfTexts && !raw.every((item) => typeof item === 'string'))) {
      problems.add(path, [isOfTexts ? 'Must be a list of strings' : 'Must be a list'])
      return undefined
    }
    if (raw.length < minItems) problems.add(path, [`Must have at least ${countItems(minItems)}`])
    // Before any item is checked, so that a long list costs nothing.
    if (raw.length > maxItems) {
      problems.add(path, [`Must have at most ${countItems(maxItems)}`])
      return undefined
    }
    if (uniqueItems && new Set(raw.map((item) => JSON.stringify(item))).size < raw.length) {
      problems.add(path, ['Must not have an item twice'])
    }
    const values: unknown[] = []
    for (const [i, item] of raw.entries()) {
      if (problems.isFull) break
      values.push(read(item, { problems, isForm: false }, `${path}.${i}`))
    }
    return values
  }
}

function compileWithAjv(schema: Property, path: string): ReadValue {
  let findRefusal: ReturnType<typeof compileByAjv>
  try {
    findRefusal = compileByAjv(schema)
  } catch (error) {
    throw new Error(`the schema of ${path}: ${(error as Error).message}`)
  }
  return (raw, { problems }, path) => {
    const refusal = findRefusal(raw)
    if (!refusal) return raw
    problems.add(refusal.path === '' ? path : `${path}.${refusal.path}`, [refusal.message])
    return undefined
  }
}

function requireKnown(schema: Property, known: readonly string[], path: string): void {
  const checked = [...known, 'x-not-blank']
  const unknown = Object.keys(schema).find((keyword) => !checked.includes(keyword) && !descriptive.includes(keyword))
  if (unknown !== undefined) throw new Error(`the schema of ${path || 'a body'}: nothing checks "${unknown}"`)
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function fromForm({ type }: Property, raw: unknown): unknown {
  // A form cannot express an empty list; an empty field represents it.
  if (type === 'array' && raw !== undefined) return [raw].flat().filter((item) => item !== '')
  if (typeof raw !== 'string' || type === 'string') return raw
  const text = raw.trim()
  if (text === '') return undefined
  if (type === 'boolean') {
    if (['true', '1', 'on'].includes(text)) return true
    return ['false', '0', 'off'].includes(text) ? false : raw
  }
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : raw
}
