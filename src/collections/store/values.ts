/** Reads what clients send into values as they are stored, and stored rows into what clients get. */
import { compareDecimals, isIntegerDecimal, roundDecimal } from '../../core/decimal.ts'
import { isEmail } from '../../core/email.ts'
import { isStorable } from '../../core/text.ts'
import { RowReference, RowReferenceList, type Value } from '../../platform/database/database.ts'
import { isTime } from '../../platform/listing/filter-values.ts'
import { compileBody, exactNumbersOf, isForm } from '../../platform/validation/body-validation.ts'
import { compilePlain } from '../../platform/validation/plain-values.ts'
import type { Problems } from '../../platform/validation/problems.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { type Described, type DescribedField, isOwnField, isStored, maxTextOf, valuesOf } from '../declare/describe.ts'
import type { AnyFieldOptions, FieldDefinition } from '../declare/fields.ts'
import type { StoredValues } from './statements.ts'

/** Who writes, and when: what the defaults `me` and `now` stand for. */
export interface Moment {
  userId: number | null
  /** ISO 8601. */
  now: string
}

export interface ReadBody {
  values: StoredValues
  /** The fields that the client has sent. */
  given: readonly string[]
}

type Outcome = { value: Value } | { problems: Readonly<Record<string, readonly string[]>> }

/** `written` is the text of a number that a float may not hold. Problems are by path below the field; '' is the field. */
type ReadValue = (raw: unknown, written?: string) => Outcome

/** Of a list, by default. */
export const maxItems = 100
const maxJsonLength = 65_536
/** SQLite reads no JSON of more than a thousand levels, and a stack has an end. */
const maxJsonLevels = 100
const dayPattern = /^\d{4}-\d\d-\d\d$/
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

export const wrong = {
  blank: 'Must not be blank',
  missing: 'Does not exist',
  day: 'Must be a date',
  time: 'Must be a time of ISO 8601 with its zone',
  oneOf: (values: readonly string[]) => `Must be one of ${values.join(', ')}`,
}

const refuse = (...problems: string[]): Outcome => ({ problems: { '': problems } })

/** The fields that a client may send. */
export function writableFieldsOf({ fields }: Pick<Described, 'fields'>): DescribedField[] {
  return [...fields.values()].filter((field) => isStored(field) && field.kind !== 'computed' && !isOwnField(field.name))
}

export function compileBodies(collection: Pick<Described, 'fields'>, { hasHook }: { hasHook: boolean }) {
  const fields = writableFieldsOf(collection).map((field) => ({
    field,
    name: field.name,
    isRequired: !field.definition.options.optional && field.kind !== 'list',
    /** By a hook, because no client can. */
    isSetLater: hasHook && field.definition.options.writable?.kind === 'never',
    read: compileValue(field.definition, field.target),
  }))

  function read(body: unknown, missing: (field: DescribedField) => Value | undefined, problems: Problems): ReadBody {
    const given = (typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}) as Record<
      string,
      unknown
    >
    const [isOfForm, exact] = [isForm(given), exactNumbersOf(given)]
    const values: Record<string, Value> = {}
    const names: string[] = []
    for (const { field, name, isRequired, isSetLater, read } of fields) {
      const sent = Object.hasOwn(given, name) ? given[name] : undefined
      const raw = isOfForm ? fromForm(field.definition, sent) : sent
      const isBlank = typeof raw === 'string' && raw.trim() === '' && isRequired
      if (raw === undefined || raw === null || isBlank) {
        // Nothing was sent, or null: for what has to have a value, null is nothing.
        const isCleared = raw === null && !isRequired
        const value = isCleared ? (field.kind === 'list' ? '[]' : null) : isBlank ? undefined : missing(field)
        if (isCleared) names.push(name)
        if (value !== undefined) values[name] = value
        else if (isRequired && (isBlank || raw === null || !(isPartial(missing) || isSetLater)))
          problems.add(name, [wrong.blank])
        continue
      }
      names.push(name)
      if (raw instanceof RowReference && field.kind === 'belongsTo') {
        values[name] = raw as never
        continue
      }
      const outcome = read(raw, isOfForm ? String(sent).trim() : exact?.get(name))
      if ('value' in outcome) values[name] = outcome.value
      else {
        for (const [path, messages] of Object.entries(outcome.problems))
          problems.add(path === '' ? name : `${name}.${path}`, messages)
      }
    }
    return { values, given: names }
  }

  return {
    /** A new row, with its defaults. */
    readNew(body: unknown, moment: Moment, problems: Problems): ReadBody {
      return read(body, (field) => defaultOf(field, moment), problems)
    },
    /** The fields that are sent. */
    readChange: (body: unknown, problems: Problems): ReadBody => read(body, nothing, problems),
    /** The fields that a new row needs, and does not have yet. */
    missingOf: (values: StoredValues): string[] =>
      fields.flatMap(({ name, isRequired }) => (isRequired && (values[name] ?? null) === null ? [name] : [])),
  }
}

const nothing = () => undefined
const isPartial = (missing: unknown) => missing === nothing

/** As it is stored. Undefined: there is none, and the field needs a value. */
export function defaultOf({ kind, definition }: DescribedField, { userId, now }: Moment): Value | undefined {
  const { default: given, optional } = definition.options
  if (isMarker(given, 'me')) return userId ?? (optional ? null : undefined)
  if (isMarker(given, 'now')) return kind === 'day' ? now.slice(0, 10) : now
  if (given !== undefined) return toStoredValue(definition, given)
  if (kind === 'list') return '[]'
  return optional ? null : undefined
}

/** Whether a default is `me` or `now`. */
export function isMarker(given: unknown, ...kinds: readonly ('me' | 'now')[]): boolean {
  const { kind } = (typeof given === 'object' && given !== null ? given : {}) as { kind?: unknown }
  return (kinds.length > 0 ? kinds : ['me', 'now']).includes(kind as 'me')
}

/** A value of a row as a program has it, as it is stored. */
export function toStoredValue(definition: FieldDefinition, value: unknown): Value {
  if (value === null || value === undefined) return null
  const { kind, options, item } = definition.computed?.type ?? definition
  if (kind === 'list') {
    return JSON.stringify((value as unknown[]).map((each) => toStoredValue(item as FieldDefinition, each)))
  }
  if (kind === 'json') return JSON.stringify(value)
  if (kind === 'decimal') return Number.isFinite(Number(value)) ? roundDecimal(String(value), options.scale ?? 0) : null
  return kind === 'time' ? new Date(value as string | Date).toISOString() : (value as Value)
}

/** As it is stored, of a row with all its fields. */
export function computeValue(definition: FieldDefinition, row: Readonly<Record<string, unknown>>): Value {
  return toStoredValue(definition, definition.computed?.of(row as never))
}

/** A stored value as clients get it. */
export function fromStoredValue(definition: FieldDefinition, stored: unknown): unknown {
  if (stored === null || stored === undefined) return null
  const { kind, options, item } = definition.computed?.type ?? definition
  if (kind === 'decimal') return Number(stored) / 10 ** (options.scale ?? 0)
  if (kind === 'json') return typeof stored === 'string' ? JSON.parse(stored) : stored
  if (kind === 'list') {
    return itemsOf(stored).map((each) => fromStoredValue(item as FieldDefinition, each))
  }
  return kind === 'boolean' ? Boolean(stored) : stored
}

/** Of a stored list. Those of a batch may refer to rows that are not written yet. */
export function itemsOf(stored: unknown): readonly unknown[] {
  if (stored instanceof RowReferenceList) return stored.items
  return (typeof stored === 'string' ? JSON.parse(stored) : stored) as unknown[]
}

function compileValue(definition: FieldDefinition, target: Described | undefined): ReadValue {
  const { kind, options, values = [] } = definition
  const { min, max } = options
  switch (kind) {
    case 'text':
      return plain({ type: 'string', maxLength: maxTextOf(definition), ...(min !== undefined && { minLength: min }) })
    case 'email':
      return plain({
        type: 'string',
        maxLength: maxTextOf(definition),
        'x-check': checkOf(isEmail, 'Must be a valid email address'),
      })
    case 'url':
      return plain({
        type: 'string',
        maxLength: maxTextOf(definition),
        'x-check': checkOf(isWebAddress, 'Must be a valid URL'),
      })
    case 'boolean':
      return plain({ type: 'boolean' })
    case 'integer':
      return plain({
        type: 'integer',
        minimum: min ?? Number.MIN_SAFE_INTEGER,
        maximum: max ?? Number.MAX_SAFE_INTEGER,
      })
    case 'belongsTo':
      return compileId()
    case 'decimal':
      return compileDecimal(options.scale ?? 0, min, max)
    case 'choice':
      return (raw) => (typeof raw === 'string' && values.includes(raw) ? { value: raw } : refuse(wrong.oneOf(values)))
    case 'day':
      return (raw) => (isDay(raw) ? { value: raw } : refuse(wrong.day))
    case 'time':
      return (raw) => {
        const time = typeof raw === 'string' && timePattern.test(raw) ? toTime(raw) : undefined
        return time === undefined ? refuse(wrong.time) : { value: time }
      }
    case 'list':
      return compileItems(definition, target)
    default:
      return compileJson(options.schema)
  }
}

function compileJson(schema: AnyFieldOptions['schema']): ReadValue {
  const validate = schema && compileBody(Type.Object({ value: schema }))
  return (raw) => {
    const problem = problemOfJson(raw)
    if (problem) return refuse(problem)
    const outcome = validate?.({ value: raw }) ?? { value: { value: raw } }
    if ('error' in outcome) {
      const details = Object.entries(outcome.error.extra?.details as Record<string, string[]>)
      return {
        problems: Object.fromEntries(details.map(([path, messages]) => [path.replace(/^value\.?/, ''), messages])),
      }
    }
    const text = JSON.stringify(outcome.value.value)
    return text.length > maxJsonLength ? refuse(`Must be at most ${maxJsonLength} characters`) : { value: text }
  }
}

function problemOfJson(value: unknown, levels = maxJsonLevels): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : 'Must be valid text'
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'Must not have numbers that are too large'
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return `Must be at most ${maxJsonLevels} levels deep`
  for (const each of Object.entries(value).flat()) {
    const problem = problemOfJson(each, levels - 1)
    if (problem) return problem
  }
  return undefined
}

function plain(schema: Parameters<typeof compilePlain>[0] extends infer Schema ? Partial<Schema> : never): ReadValue {
  const read = compilePlain(schema as Parameters<typeof compilePlain>[0])
  return (raw, written) => {
    const outcome = read(raw, written)
    return 'value' in outcome ? { value: outcome.value as Value } : refuse(...outcome.problems)
  }
}

const checkOf = (isValid: (text: string) => boolean, message: string) => (text: string) =>
  isValid(text) ? [] : [message]

/** What no row can have as its id, none has. */
function compileId(): ReadValue {
  const read = plain({ type: 'integer' })
  return (raw, written) => {
    const outcome = read(raw, written)
    return 'value' in outcome && !Number.isSafeInteger(outcome.value) ? refuse(wrong.missing) : outcome
  }
}

/** Exact: by its digits as they are written, rounded half up. */
function compileDecimal(scale: number, min: number | undefined, max: number | undefined): ReadValue {
  const most = Math.floor(Number.MAX_SAFE_INTEGER / 10 ** scale)
  return (raw, exact) => {
    if (typeof raw !== 'number' || !Number.isFinite(raw)) return refuse('Must be a number')
    const written = exact ?? String(raw)
    const [low, high] = [min ?? -most, max ?? most]
    if (compareDecimals(written, String(low)) < 0) return refuse(`Must be at least ${low}`)
    if (compareDecimals(written, String(high)) > 0) return refuse(`Must be at most ${high}`)
    return { value: roundDecimal(written, scale) }
  }
}

function compileItems({ item, options }: FieldDefinition, target: Described | undefined): ReadValue {
  const read = compileValue(item as FieldDefinition, target)
  const most = options.max ?? maxItems
  return (raw) => {
    if (!Array.isArray(raw)) return refuse('Must be a list')
    if (raw.length > most) return refuse(`Must have at most ${most} ${most === 1 ? 'item' : 'items'}`)
    const values: unknown[] = []
    const problems: Record<string, readonly string[]> = {}
    for (const [i, each] of raw.entries()) {
      if (each instanceof RowReference) {
        values.push(each)
        continue
      }
      const outcome =
        each === null || (typeof each === 'string' && each.trim() === '') ? refuse(wrong.blank) : read(each)
      if ('value' in outcome) values.push(outcome.value)
      else problems[i] = outcome.problems[''] ?? []
    }
    if (Object.keys(problems).length > 0) return { problems }
    const hasReferences = values.some((each) => each instanceof RowReference)
    return { value: hasReferences ? (new RowReferenceList(values as number[]) as never) : JSON.stringify(values) }
  }
}

export function isDay(raw: unknown): raw is string {
  return typeof raw === 'string' && dayPattern.test(raw) && toTime(raw) !== undefined
}

/** Undefined if there is no such day: JavaScript takes the 30th of February for the 2nd of March. */
function toTime(text: string): string | undefined {
  const day = text.slice(0, 'YYYY-MM-DD'.length)
  const [start, time] = [day, text].map((each) => (isValidDate(each) ? new Date(each).toISOString() : ''))
  return start?.startsWith(day) && isTime(time as string) ? time : undefined
}

const isValidDate = (text: string) => !Number.isNaN(Date.parse(text))

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** Fields of a form are texts. An empty one is no value. */
function fromForm(definition: FieldDefinition, sent: unknown): unknown {
  const { kind } = definition
  if (kind === 'list')
    return sent === undefined
      ? undefined
      : [sent]
          .flat()
          .filter((each) => each !== '')
          .map((each) => fromForm(valuesOf(definition), each))
  if (typeof sent !== 'string' || ['text', 'email', 'url', 'choice'].includes(kind))
    return sent === '' && definition.options.optional ? null : sent
  const text = sent.trim()
  if (text === '') return definition.options.optional ? null : undefined
  if (kind === 'boolean') return { true: true, 1: true, on: true, false: false, 0: false, off: false }[text] ?? sent
  if (kind === 'json') return parseJson(text)
  const isNumber = ['integer', 'decimal', 'belongsTo'].includes(kind) && /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)
  return isNumber ? Number(text) : text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A value of a filter, as it is stored. Undefined if the text is none. */
export function readFilter(text: string, field: DescribedField): Value | undefined {
  const definition = valuesOf(field.definition)
  if (field.target || definition.kind === 'integer') {
    const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return Number.isSafeInteger(number) ? number : undefined
  }
  switch (definition.kind) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'decimal':
      return readDecimal(text, definition.options.scale ?? 0)
    case 'day':
      return isDay(text) ? text : undefined
    case 'time':
      return dayPattern.test(text) || timePattern.test(text) ? toTime(text) : undefined
    case 'choice':
      return definition.values?.includes(text) ? text : undefined
    default:
      return text.trim() !== '' && isStorable(text) ? text : undefined
  }
}

function readDecimal(text: string, scale: number): number | undefined {
  if (!/^-?\d{1,16}(\.\d{1,16})?$/.test(text)) return undefined
  const scaled = roundDecimal(text, scale)
  const isExact = isIntegerDecimal(`${text}e${scale}`)
  return isExact && Number.isSafeInteger(scaled) ? scaled : undefined
}

/** What is said of a filter's value that is none. */
export function wrongFilter({ definition, target }: DescribedField): string {
  const { kind, values = [], options } = valuesOf(definition)
  if (target || kind === 'integer') return 'Must be an integer'
  if (kind === 'boolean') return 'Must be true or false'
  if (kind === 'decimal') return `Must be a number with at most ${options.scale ?? 0} decimals`
  if (kind === 'day') return wrong.day
  if (kind === 'time') return 'Must be a date or a time of ISO 8601 with its zone'
  return kind === 'choice' ? wrong.oneOf(values) : wrong.blank
}
