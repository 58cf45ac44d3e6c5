/** Random edits of a declaration, with what the rows must be after each of them. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { collection } from '../../src/collections/collection.ts'
import type { CollectionDeclaration } from '../../src/collections/declare/describe.ts'
import {
  belongsTo,
  boolean,
  choice,
  decimal,
  type FieldDefinition,
  integer,
  list,
  text,
} from '../../src/collections/declare/fields.ts'
import { everybody } from '../../src/collections/declare/rules.ts'
import { users } from '../../src/features/users/users.feature.ts'
import type { Feature } from '../../src/platform/feature.ts'
import type { Random } from './graphql-fuzz/random.ts'

export type Declared = Partial<CollectionDeclaration> & Pick<CollectionDeclaration, 'fields'>

export function declare(migrations: string, declared: Declared): Feature {
  return collection({ name: 'things', rules: { read: everybody }, ...declared, migrations } as never)
}

/** A field of the random edits. */
interface Spec {
  kind: 'text' | 'choice' | 'integer' | 'decimal' | 'boolean' | 'list' | 'user'
  max: number
  scale: number
  values: string[]
  optional: boolean
  unique: boolean
  /** It was added by the edits that are to be written. */
  isNew: boolean
  options: { was?: string; backfill?: unknown; default?: unknown }
}

export interface Draft {
  fields: Map<string, Spec>
  sort: string[]
  filter: string[]
  gone: string[]
  /** Positions of rows that are deleted. */
  deleted: Set<number>
  /** What each row must have. */
  rows: Record<string, unknown>[]
}

const kinds = ['text', 'text', 'choice', 'integer', 'decimal', 'boolean', 'list', 'user'] as const

function fieldOf({ kind, max, scale, values, optional, unique, options }: Spec): FieldDefinition {
  const all = { ...options, ...(optional && { optional }), ...(unique && { unique }) } as object
  if (kind === 'text') return text({ ...all, max })
  if (kind === 'choice') return choice(values as [string], all)
  if (kind === 'integer') return integer({ ...all, max })
  if (kind === 'decimal') return decimal({ ...all, scale })
  if (kind === 'boolean') return boolean(all)
  if (kind === 'list') return list(text({ max }), options)
  return belongsTo(users, { ...all, onDelete: 'clear' })
}

const fillings = { text: 'f', choice: 'a', integer: 1, decimal: 0.5, boolean: false, list: ['f'], user: 1 }

export function createDraft(random: Random): Draft {
  const fields = Array.from({ length: 3 }, (): [string, Spec] => [`field_${names++}`, specOf(random)])
  return { fields: new Map(fields), sort: [], filter: [], gone: [], deleted: new Set(), rows: [] }
}

export function addRow(draft: Draft, random: Random): { row: Record<string, unknown>; isDeleted: boolean } {
  const row = Object.fromEntries(
    [...draft.fields].map(([name, spec]) => [name, randomValue(spec, random, draft.rows.length)]),
  )
  const isDeleted = random.chance(0.2)
  if (isDeleted) draft.deleted.add(draft.rows.length)
  draft.rows.push(row)
  return { row, isDeleted }
}

function randomValue({ kind, max, scale, values, optional, unique }: Spec, random: Random, position: number): unknown {
  if (kind !== 'list' && optional && random.chance(0.3)) return null
  const word = () => random.pick(['Ä', 'b', "c'd", 'Efgh', 'Ijklmn']).slice(0, max)
  if (kind === 'text') return unique ? String.fromCodePoint(0x4e00 + position) : word()
  if (kind === 'choice') return random.pick(values)
  if (kind === 'integer') return random.below(max + 1)
  if (kind === 'decimal') return random.below(1000) / 10 ** scale
  if (kind === 'boolean') return random.chance(0.5)
  return kind === 'list' ? Array.from({ length: random.below(3) }, word) : 1
}

let names = 0

function specOf(random: Random): Spec {
  const [kind, optional] = [random.pick(kinds), random.chance(0.6)]
  return {
    kind,
    max: 6,
    scale: 1,
    values: ['a', 'b', 'c'],
    optional: optional || kind === 'user',
    unique: false,
    isNew: true,
    options: {},
  }
}

export const declaredAs = ({ fields, sort, filter, gone }: Draft): Declared => ({
  fields: Object.fromEntries([...fields].map(([name, spec]) => [name, fieldOf(spec)])),
  sort,
  filter,
  gone,
})

/** The next draft, and whether it is to be refused. */
export function editDraft(draft: Draft, random: Random): { next: Draft; isRefused: boolean } {
  const next = structuredClone(draft)
  // A former name that is no longer needed may stay, but is of no use.
  for (const spec of next.fields.values()) {
    const { was } = spec.options
    spec.options = was !== undefined && random.chance(0.5) ? { was } : {}
    spec.isNew = false
  }
  let isRefused = false
  for (let edits = 1 + random.below(2); edits > 0 && !isRefused; edits--) isRefused = editOnce(next, random)
  return { next, isRefused }
}

/** Fills what does not fit. Returns whether the edit is to be refused instead. */
function fit(
  draft: Draft,
  name: string,
  spec: Spec,
  isMisfit: (value: unknown) => boolean,
  filling?: unknown,
): boolean {
  if (filling !== undefined) spec.options.backfill = filling
  const misfits = draft.rows.filter((row) => isMisfit(row[name]))
  if (filling !== undefined) for (const row of misfits) row[name] = filling
  return filling === undefined && misfits.length > 0
}

function stopListing(draft: Draft, name: string): void {
  draft.sort = draft.sort.filter((each) => each !== name)
  draft.filter = draft.filter.filter((each) => each !== name)
}

/** Only values that fit are kept, and all others are filled. */
function retype(draft: Draft, name: string, spec: Spec, random: Random): boolean {
  const former = spec.kind
  const kind = random.pick(kinds.filter((each) => each !== former && (each !== 'user' || spec.optional)))
  Object.assign(spec, { kind, scale: 1, isNew: true })
  if (kind === 'list' || kind === 'user') stopListing(draft, name)
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)
  const fits = (value: unknown) => {
    if (former === 'choice' && kind === 'text') return true
    if (former === 'text' && kind === 'choice') return spec.values.includes(value as string)
    if (former === 'integer' && kind === 'decimal') return true
    return former === 'decimal' && kind === 'integer' && Number.isInteger(value) && (value as number) <= spec.max
  }
  const isKept = [
    ['text', 'choice'],
    ['integer', 'decimal'],
  ].some((each) => each.includes(former) && each.includes(kind))
  const needsValue = !spec.optional && kind !== 'list' && !isKept
  const isMisfit = (value: unknown) => needsValue || (!isEmpty(value) && !fits(value))
  const isRefused = fit(draft, name, spec, isMisfit, random.chance(0.6) ? fillings[kind] : undefined)
  for (const row of draft.rows) if (isEmpty(row[name])) row[name] = kind === 'list' ? [] : null
  return isRefused
}

/** Changes the draft. Returns whether that is to be refused. */
function editOnce(draft: Draft, random: Random): boolean {
  const { fields, rows } = draft
  const all = [...fields]
  const [name, spec] = random.pick(all)
  const isFilled = random.chance(0.5)
  const edit = random.pick([
    'add',
    'add',
    'rename',
    'rename',
    'drop',
    'lose',
    'shorten',
    'choice',
    'require',
    'scale',
    'sort',
    'sort',
    'order',
    'widen',
    'unique',
    'index',
    'retype',
    'retype',
  ])
  const isText = spec.kind === 'text'
  if (edit === 'add') {
    const added = specOf(random)
    const [initial, of] = [randomValue({ ...added, optional: false }, random, 0), `field_${names++}`]
    const isGiven = added.kind !== 'user' && (!added.optional || random.chance(0.3))
    if (isGiven) added.options = { [added.kind === 'list' ? 'backfill' : 'default']: initial }
    fields.set(of, added)
    for (const row of rows) row[of] = isGiven ? initial : added.kind === 'list' ? [] : null
  } else if (edit === 'rename' && spec.options.was === undefined) {
    const to = `field_${names++}`
    const renamed = all.map(([each, of]): [string, Spec] =>
      each === name ? [to, { ...of, options: { ...of.options, was: name } }] : [each, of],
    )
    draft.fields = new Map(renamed)
    draft.sort = draft.sort.map((each) => (each === name ? to : each))
    draft.filter = draft.filter.map((each) => (each === name ? to : each))
    for (const row of rows) {
      row[to] = row[name]
      delete row[name]
    }
  } else if ((edit === 'drop' || edit === 'lose') && all.length > 2 && !spec.isNew && !spec.options.was) {
    fields.delete(name)
    stopListing(draft, name)
    if (edit === 'drop') draft.gone = [...draft.gone, name]
    for (const row of rows) delete row[name]
    return edit === 'lose'
  } else if (edit === 'shorten' && (isText || spec.kind === 'list') && !spec.unique && !spec.isNew) {
    spec.max = Math.max(1, spec.max - 2)
    const isLong = (value: unknown) => typeof value === 'string' && value.length > spec.max
    if (isText) return fit(draft, name, spec, isLong, isFilled ? 'f' : undefined)
    return fit(draft, name, spec, (value) => (value as string[]).some(isLong), isFilled ? ['f'] : undefined)
  } else if (edit === 'choice' && spec.kind === 'choice' && spec.values.length > 1 && !spec.isNew) {
    const removed = spec.values.pop()
    return fit(draft, name, spec, (value) => value === removed, isFilled ? 'a' : undefined)
  } else if (edit === 'require' && spec.optional && !['user', 'list'].includes(spec.kind) && !spec.unique) {
    spec.optional = false
    return fit(draft, name, spec, (value) => value === null, isFilled ? fillings[spec.kind] : undefined)
  } else if (edit === 'retype' && !spec.unique && !spec.isNew && spec.options.backfill === undefined) {
    return retype(draft, name, spec, random)
  } else if (edit === 'scale' && spec.kind === 'decimal') spec.scale += 1
  else if (edit === 'widen' && isText) spec.max += 1
  else if (edit === 'sort' && !['list', 'user'].includes(spec.kind)) {
    draft.sort = draft.sort.includes(name) ? draft.sort.filter((each) => each !== name) : [...draft.sort, name]
  } else if (edit === 'index' && !['list', 'user'].includes(spec.kind)) {
    draft.filter = draft.filter.includes(name) ? draft.filter.filter((each) => each !== name) : [...draft.filter, name]
  } else if (edit === 'order') draft.fields = new Map(all.reverse())
  else if (edit === 'unique' && isText) {
    spec.unique = !spec.unique
    const values = rows
      .filter((_, position) => !draft.deleted.has(position))
      .map((row) => row[name])
      .filter((value) => value !== null)
    return spec.unique && new Set(values).size < values.length
  }
  return false
}

/** Begins to write and to apply a draft in another process, which is killed after a time. */
export async function applyAndKill(
  order: { folder: string; url: string; draft: Draft },
  afterMs: number,
): Promise<void> {
  const child = fork(join(import.meta.dirname, 'collection-edits-process.ts'), {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  const exited = once(child, 'exit')
  child.send(order)
  await sleep(afterMs)
  child.kill('SIGKILL')
  await exited
}
