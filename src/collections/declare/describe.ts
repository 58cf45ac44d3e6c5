/**
 * Describes collections: resolves what a declaration refers to, and refuses what cannot work. Everything else is derived from a
 * description: tables, SQL, REST, GraphQL, pages.
 */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { hyphenatedName } from '../../core/text.ts'
import type { FieldDefinition, Kind } from './fields.ts'
import { type Action, type FieldPath, type Operand, operatorNames, type Rule, type Scalar } from './rules.ts'

/** As it is declared, without the types. */
export interface CollectionDeclaration {
  /** The plural: lower-case words with hyphens. */
  name: string
  /** If it is not the name without its `s`, or with `y` for `ies`. */
  singular?: string
  /** Instead of `/api/<name>`. */
  path?: string
  fields: Readonly<Record<string, FieldDefinition>>
  rules?: Partial<Record<Action, Rule>>
  sort?: readonly string[]
  filter?: readonly string[]
  search?: readonly string[]
  check?: readonly [condition: Rule, message: string]
  keepDeleted?: string | false
  gone?: readonly string[]
  kept?: readonly string[]
  title?: string
}

/** A collection or the users: what relations can refer to. */
export interface Described {
  readonly name: string
  /** Begins the types of its changes, such as `ticket.created`. */
  readonly singular: string
  readonly table: string
  /** By name, in the order of the declaration. */
  readonly fields: ReadonlyMap<string, DescribedField>
  /** Undefined for users, whose rows have rules of their own. */
  readonly rules: Readonly<Record<Action, Rule>> | undefined
  /** Of its routes. */
  readonly path: string
  /** The field that stands for a row. */
  readonly title: string
  /** What lists support. */
  readonly lists: Readonly<Record<'sort' | 'filter' | 'search', readonly string[]>>
  /** What every stored row meets. A comparison with null counts as met. */
  readonly check: { rule: Rule; message: string } | undefined
  /** For how long deleted rows can be restored. Undefined: not at all. */
  readonly keptMs: number | undefined
  /** Fields whose values may be deleted. */
  readonly gone: readonly string[]
  /** Fields that are not declared, whose columns stay for now. */
  readonly kept: readonly string[]
}

export interface DescribedField {
  readonly name: string
  readonly kind: Kind
  readonly definition: FieldDefinition
  /** Of `belongsTo`, and of a list of them. */
  readonly target: Described | undefined
  /** Of `hasMany`: the collection, and its field that refers to this one. */
  readonly many?: { readonly of: Described; readonly by: string }
}

/** PostgreSQL cuts names off after 63 characters, and those of triggers and list tables are longer than their table's. */
const maxName = 40
const maxListName = 45
const pathPattern = /^(\/[a-z0-9][a-z0-9-]*)+$/
const fieldPattern = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
/** Every collection has them; the first three are fields. */
const ownFields: Readonly<Record<string, FieldDefinition>> = {
  id: { kind: 'integer', options: {} },
  created_at: { kind: 'time', options: {} },
  updated_at: { kind: 'time', options: {} },
}
/** Whether the service sets it, and nobody else. */
export function isOwnField(name: string): boolean {
  return Object.hasOwn(ownFields, name)
}

const reservedNames: readonly string[] = [...Object.keys(ownFields), 'version', 'deleted_at', 'type', ...operatorNames]

/** Users as other collections see them. */
export const describedUsers: Described = {
  name: 'users',
  singular: 'user',
  table: 'users',
  fields: new Map(
    Object.entries({
      id: { kind: 'integer', options: {} },
      name: { kind: 'text', options: {} },
      email: { kind: 'email', options: {} },
    } satisfies Record<string, FieldDefinition>).map(([name, definition]) => [name, describeField(name, definition)]),
  ),
  rules: undefined,
  path: '/api/users',
  title: 'name',
  lists: { sort: [], filter: [], search: [] },
  check: undefined,
  keptMs: undefined,
  gone: [],
  kept: [],
}

/** `findTarget` returns the declaration of a relation's target, or `users`. */
export function describeCollections(
  declarations: readonly CollectionDeclaration[],
  findTarget: (target: unknown) => CollectionDeclaration | Described | 'users' | undefined,
): Described[] {
  const described = new Map(declarations.map((each) => [each, describe(each)]))
  const names = declarations.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw problem(twice, 'there are two of this name')

  function find(given: unknown, name: string, field: string): Described {
    const found = findTarget(given)
    const target =
      found === 'users' ? describedUsers : (found && described.get(found as CollectionDeclaration)) || found
    if (target && 'table' in target) return target
    throw problem(name, `the field "${field}" refers to what is no collection here`)
  }

  function resolve(declaration: CollectionDeclaration, name: string, definition: FieldDefinition): DescribedField {
    const { many } = definition
    if (many) {
      const target = { of: find(many.of(), declaration.name, name), by: many.by }
      return { ...describeField(name, definition), many: target }
    }
    const relation = definition.kind === 'list' ? definition.item : definition
    if (relation?.kind !== 'belongsTo') return describeField(name, definition)
    const target = find(relation.target, declaration.name, name)
    return describeField(name, definition, target)
  }

  for (const [declaration, { fields }] of described) {
    for (const [name, definition] of Object.entries({ ...ownFields, ...declaration.fields })) {
      requireFieldName(declaration.name, name, definition)
      fields.set(name, resolve(declaration, name, definition))
    }
  }
  for (const each of described.values()) {
    requireRules(each)
    requireLists(each)
    requireMany(each)
    requireIndex(each)
  }
  return [...described.values()]
}

interface Describing extends Described {
  readonly fields: Map<string, DescribedField>
  readonly rules: Readonly<Record<Action, Rule>>
}

function describe(declaration: CollectionDeclaration): Describing {
  const { name, singular = singularOf(name), rules = {}, path = `/api/${name}`, check } = declaration
  if (!hyphenatedName.test(name)) throw problem(name, 'a name has lower-case words, joined by hyphens')
  if (name.length > maxName) throw problem(name, `a name has at most ${maxName} characters`)
  if (!hyphenatedName.test(singular)) throw problem(name, '`singular` has lower-case words, joined by hyphens')
  if (!pathPattern.test(path)) throw problem(name, '`path` begins with a slash, and has lower-case words')
  const texts = Object.entries(declaration.fields).filter(([, { kind }]) => kind === 'text')
  const never: Rule = { kind: 'never' }
  return {
    name,
    singular,
    table: name.replaceAll('-', '_'),
    fields: new Map(),
    rules: { read: never, create: never, update: never, delete: never, ...rules },
    path,
    title: declaration.title ?? texts[0]?.[0] ?? 'id',
    lists: {
      sort: declaration.sort ?? [],
      filter: declaration.filter ?? [],
      search: declaration.search ?? [],
    },
    check: check && { rule: check[0], message: check[1] },
    keptMs: readKept(declaration),
    gone: declaration.gone ?? [],
    kept: declaration.kept ?? [],
  }
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 }

function readKept({ name, keepDeleted = '30d' }: CollectionDeclaration): number | undefined {
  if (keepDeleted === false) return undefined
  const [, count = '', unit = ''] = /^([1-9]\d{0,3})([hd])$/.exec(keepDeleted) ?? []
  if (unit === '') throw problem(name, '`keepDeleted` is `false`, or a number of hours or days such as `30d`')
  return Number(count) * (unitMs[unit] as number)
}

/** `tickets` → `ticket`, `categories` → `category`. */
function singularOf(name: string): string {
  return name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, '')
}

function describeField(name: string, definition: FieldDefinition, target?: Described): DescribedField {
  return { name, kind: definition.kind, definition, target }
}

function requireFieldName(collection: string, name: string, { kind }: FieldDefinition): void {
  if (isOwnField(name)) return
  if (!fieldPattern.test(name))
    throw problem(collection, `the field "${name}" is not lower-case words, joined by underscores`)
  const most = kind === 'list' ? Math.min(maxName, maxListName - collection.length) : maxName
  if (name.length > most) throw problem(collection, `the field "${name}" has a name of more than ${most} characters`)
  if (reservedNames.includes(name)) throw problem(collection, `no field can have the name "${name}"`)
}

function problem(collection: string, reason: string): FatalError {
  return new FatalError(`collection ${collection}: ${reason}`, exitCodes.configuration)
}

function requireRules(collection: Described): void {
  const { check } = collection
  if (check) {
    const fail = (reason: string) => problem(collection.name, `\`check\` ${reason}`)
    requireRule(check.rule, { collection, action: 'delete', fail })
  }
  for (const { name, definition } of collection.fields.values()) {
    const { readable, writable } = definition.options
    for (const [option, rule] of Object.entries({ readable, writable })) {
      const fail = (reason: string) => problem(collection.name, `\`${option}\` of "${name}" ${reason}`)
      if (rule && rule.kind !== 'onCreate') requireRule(rule, { collection, action: 'read', fail })
    }
  }
  for (const [action, rule] of Object.entries(collection.rules ?? {})) {
    const fail = (reason: string) => problem(collection.name, `the rule "${action}" ${reason}`)
    requireRule(rule, { collection, action: action as Action, fail })
    requireNoCircle(collection, action as Action, fail)
  }
}

/** In characters. */
export function maxTextOf({ kind, options }: FieldDefinition): number {
  return options.max ?? (options.multiline ? 65_536 : kind === 'url' ? 2000 : 255)
}

/** What PostgreSQL can put in an index. */
const maxIndexedText = 600

/** The other side of `hasMany` is a relation to this collection. */
function requireMany(collection: Described): void {
  for (const { name, many } of collection.fields.values()) {
    const by = many?.of.fields.get(many.by)
    if (many && (by?.kind !== 'belongsTo' || by.target !== collection)) {
      throw problem(
        collection.name,
        `the field "${name}" names "${many.by}", which does not refer to ${collection.name}`,
      )
    }
  }
}

/** Lists are sorted, filtered and searched by fields that are stored, and can be compared. */
function requireLists(collection: Described): void {
  for (const [list, names] of Object.entries(collection.lists)) {
    for (const name of names) {
      const field = collection.fields.get(name)
      if (!field || !isStored(field)) throw problem(collection.name, `\`${list}\` names "${name}", which is not stored`)
      const isText = comparedTypeOf(field) === 'text'
      const isFitting = list === 'search' ? isText : comparedTypeOf(field) !== undefined
      if (!isFitting || (field.kind === 'list' && list !== 'filter')) {
        throw problem(
          collection.name,
          `\`${list}\` names "${name}", which is ${list === 'search' ? 'no text' : 'not comparable'}`,
        )
      }
    }
  }
  const { sort, filter } = collection.lists
  for (const { name, definition } of collection.fields.values()) {
    const { unique, uniqueWithin } = definition.options
    const isUnique = unique || uniqueWithin !== undefined
    const { kind } = valuesOf(definition)
    const isText = kind === 'text' || kind === 'email' || kind === 'url'
    if (
      isText &&
      (isUnique || [...sort, ...filter].includes(name)) &&
      maxTextOf(valuesOf(definition)) > maxIndexedText
    ) {
      throw problem(
        collection.name,
        `the texts of "${name}" are too long for an index: give it a max of ${maxIndexedText} or less`,
      )
    }
    if (uniqueWithin !== undefined && !collection.fields.has(uniqueWithin)) {
      throw problem(collection.name, `\`uniqueWithin\` of "${name}" names "${uniqueWithin}", which is no field`)
    }
  }
  for (const name of collection.kept) {
    const other = collection.fields.has(name) ? 'is declared' : collection.gone.includes(name) ? '`gone` names too' : ''
    if (other !== '') throw problem(collection.name, `\`kept\` names "${name}", which ${other}`)
  }
  if (!collection.fields.has(collection.title)) throw problem(collection.name, `\`title\` names no field`)
}

/** A list reads the rows that a reader may see off an index. Relations have one, and what lists are sorted or filtered by. */
function requireIndex(collection: Described): void {
  const missing = withoutIndex(collection.rules?.read, collection)
  if (missing === undefined) return
  throw problem(
    collection.name,
    `no index supports the rule "read": add "${missing}" to it, as in filter: [${[...collection.lists.filter, missing].map((name) => `'${name}'`).join(', ')}]`,
  )
}

/** The field that would need an index; undefined if there is none. */
function withoutIndex(rule: Rule | undefined, collection: Described): string | undefined {
  if (rule?.kind === 'not') return withoutIndex(rule.rule, collection)
  if (rule?.kind === 'any') return rule.rules.map((each) => withoutIndex(each, collection)).find((each) => each)
  if (rule?.kind === 'all') {
    const missing = rule.rules.filter(
      (each) => 'rule' in each || 'rules' in each || 'field' in each || 'relation' in each,
    )
    const found = missing.map((each) => withoutIndex(each, collection))
    return found.includes(undefined) ? undefined : found[0]
  }
  if (!rule || !('field' in rule)) return undefined
  const [name = ''] = rule.field.names
  const { sort, filter } = collection.lists
  const isIndexed = collection.fields.get(name)?.target || isOwnField(name) || [...sort, ...filter].includes(name)
  return isIndexed ? undefined : name
}

interface RulePlace {
  collection: Described
  action: Action
  fail(reason: string): FatalError
}

function requireRule(rule: Rule, place: RulePlace): void {
  const { collection, fail } = place
  switch (rule.kind) {
    case 'all':
    case 'any':
      for (const each of rule.rules) requireRule(each, place)
      return
    case 'not':
      requireRule(rule.rule, place)
      return
    case 'through': {
      const { target } = collection.fields.get(rule.relation) ?? {}
      if (collection.fields.get(rule.relation)?.kind !== 'belongsTo')
        throw fail(`goes through "${rule.relation}", which is no relation`)
      if (!target?.rules) throw fail(`goes through "${rule.relation}", but users have no such rules`)
      return
    }
    case 'compare':
    case 'in':
    case 'isNull':
    case 'has':
      requireComparison(rule, place)
      return
    case 'everybody':
    case 'signedIn':
    case 'never':
    case 'can':
    case 'role':
      return
    default:
      // Such as a field without a comparison.
      throw fail('is no rule')
  }
}

type Comparing = Extract<Rule, { field: FieldPath }>

function requireComparison(rule: Comparing, place: RulePlace): void {
  const { fail } = place
  const { field, type, isList } = requirePath(rule.field, place)
  const shown = rule.field.names.join('.')
  if (isList !== (rule.kind === 'has')) {
    throw fail(isList ? `compares the list "${shown}": use \`has\`` : `uses \`has\` on "${shown}", which is no list`)
  }
  if (type === undefined) throw fail(`compares "${shown}", which has no order and no equality`)
  const operands =
    rule.kind === 'in'
      ? rule.values.map((value): Operand => ({ kind: 'value', value }))
      : 'operand' in rule
        ? [rule.operand]
        : []
  for (const operand of operands) {
    if (!fits(operand, { field, type, place })) throw fail(`compares "${shown}" with something of another type`)
    if (operand.kind === 'value') requireValue(operand.value, { field, type, shown, fail })
  }
}

/** How values of a field are compared. */
export type ComparedType = 'number' | 'scaled' | 'text' | 'boolean' | 'time' | 'day' | 'user' | 'row'

const comparedTypes: Readonly<Partial<Record<Kind, ComparedType>>> = {
  text: 'text',
  email: 'text',
  url: 'text',
  choice: 'text',
  integer: 'number',
  decimal: 'scaled',
  boolean: 'boolean',
  time: 'time',
  day: 'day',
}

/** Of the field, or of the items of a list. Undefined where values cannot be compared. */
export function comparedTypeOf({ definition, target }: DescribedField): ComparedType | undefined {
  if (target) return target === describedUsers ? 'user' : 'row'
  return comparedTypes[valuesOf(definition).kind]
}

/** Whether the field has a column. */
export function isStored({ kind, definition }: DescribedField): boolean {
  return kind !== 'hasMany' && (kind !== 'computed' || definition.computed?.isStored === true)
}

/** The field that a path ends in, and the relation that it goes through, if any. */
export function resolvePath(
  { names }: Pick<FieldPath, 'names'>,
  collection: Described,
): { field: DescribedField; through: DescribedField | undefined } | undefined {
  const [first = '', second, ...rest] = names
  const field = collection.fields.get(first)
  if (!field || rest.length > 0) return undefined
  if (second === undefined) return { field, through: undefined }
  const next = field.kind === 'belongsTo' ? field.target?.fields.get(second) : undefined
  return next && { field: next, through: field }
}

function requirePath(path: FieldPath, { collection, action, fail }: RulePlace) {
  const shown = path.names.join('.')
  if (path.side === 'after' && action !== 'update') throw fail(`names \`after.${shown}\`, which only \`update\` has`)
  const found = resolvePath(path, collection)
  if (!found) throw fail(`names "${shown}", which is no field`)
  const { field } = found
  if (!isStored(field)) throw fail(`names "${shown}", which is not stored`)
  if (action === 'create' && shown === 'id') throw fail('names "id", which a new row does not have yet')
  return { field, type: comparedTypeOf(field), isList: field.kind === 'list' }
}

interface Compared {
  field: DescribedField
  type: ComparedType
}

function fits(operand: Operand, { field, type, place }: Compared & { place: RulePlace }): boolean {
  if (operand.kind === 'me') return type === 'user'
  if (operand.kind === 'field') {
    const { field: otherField, type: other, isList } = requirePath(operand, place)
    const areDates = [type, other].every((each) => each === 'time' || each === 'day')
    // Decimals are compared as they are stored, so their digits have to be the same.
    const areAlike = other === type && (type !== 'scaled' || scaleOf(otherField) === scaleOf(field))
    return !isList && (areDates || areAlike)
  }
  return operand.value === null || isOfType(operand.value, type)
}

function scaleOf({ definition }: DescribedField): number | undefined {
  return valuesOf(definition).options.scale
}

/** The definition of a field's values: of the items of a list, or the result of a computation. */
export function valuesOf(definition: FieldDefinition): FieldDefinition {
  return definition.item ?? definition.computed?.type ?? definition
}

/** A value that no row can have would make `isNot` hold for all of them. */
function requireValue(
  value: Scalar | null,
  { field, type, shown, fail }: Compared & { shown: string; fail: RulePlace['fail'] },
): void {
  if (value === null) return
  const { values } = valuesOf(field.definition)
  if (values && !values.includes(String(value)))
    throw fail(`compares "${shown}" with "${value}", which is none of its values`)
  const isDate = type !== 'day' || (/^\d{4}-\d\d-\d\d$/.test(String(value)) && !Number.isNaN(Date.parse(String(value))))
  const isTime =
    type !== 'time' || (/^\d{4}-\d\d-\d\d(?:T|$)/.test(String(value)) && !Number.isNaN(Date.parse(String(value))))
  if (!isDate || !isTime) throw fail(`compares "${shown}" with "${value}", which is no ${type}`)
}

function isOfType(value: Scalar, type: ComparedType): boolean {
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'number' || type === 'user' || type === 'row') return Number.isSafeInteger(value)
  if (type === 'scaled') return typeof value === 'number' && Number.isFinite(value)
  return typeof value === 'string'
}

/** Rules may go through relations to rules of others, but not back to themselves. */
function requireNoCircle(collection: Described, action: Action, fail: RulePlace['fail']): void {
  const start = `${collection.name}.${action}`
  const visit = (from: Described, rule: Rule | undefined, way: readonly string[]): void => {
    for (const { relation, action: next } of throughsOf(rule)) {
      const target = from.fields.get(relation)?.target
      const step = `${target?.name}.${next}`
      if (step === start) throw fail(`goes through itself: ${[...way, step].join(' → ')}`)
      if (target && !way.includes(step)) visit(target, target.rules?.[next], [...way, step])
    }
  }
  visit(collection, collection.rules?.[action], [start])
}

function throughsOf(rule: Rule | undefined): Extract<Rule, { kind: 'through' }>[] {
  if (rule?.kind === 'through') return [rule]
  if (rule?.kind === 'not') return throughsOf(rule.rule)
  return rule?.kind === 'all' || rule?.kind === 'any' ? rule.rules.flatMap(throughsOf) : []
}
