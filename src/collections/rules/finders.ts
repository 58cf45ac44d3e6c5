/**
 * Finds the rows that a rule allows by indexes, where a condition on each row would read the whole table: an OR over several
 * tables uses no index. A finder may find more rows than the rule allows, so these are checked, but never fewer.
 */
import type { Dialect } from '../../platform/database/database.ts'
import type { Params } from '../../platform/listing/list-params.ts'
import { type Described, resolvePath } from '../declare/describe.ts'
import type { Rule } from '../declare/rules.ts'
import { isFoundByIndex, listTableOf, quote } from '../schema/tables.ts'
import { writeItem, writeRule } from './sql.ts'
import { comparesDays, decideRule, type RulePrincipal } from './values.ts'

/** Rows that one index finds, each once. */
export type Source =
  | { kind: 'column'; of: Described; column: string; isEqual: boolean; write(params: Params, alias: string): string }
  /** By the items of a list. */
  | { kind: 'items'; of: Described; items: string; write(params: Params, alias: string): string }
  /** Those that refer to the rows of another source. */
  | { kind: 'related'; of: Described; column: string; source: Source }

export interface Finder {
  sources: readonly Source[]
  /** Whether all rows that it finds meet its condition. */
  isExact: boolean
}

const maxSources = 8
const nothing: Finder = { sources: [], isExact: true }

export interface FinderOptions {
  dialect: Dialect
  principal: RulePrincipal
}

/** Undefined if no index finds all rows that the rule allows. */
export function findByRule(rule: Rule, collection: Described, options: FinderOptions): Finder | undefined {
  const finder = findersOf(rule, collection, options)
  return finder && finder.sources.length > 0 && finder.sources.length <= maxSources ? finder : undefined
}

function findersOf(rule: Rule, collection: Described, options: FinderOptions): Finder | undefined {
  const decided = decideRule(rule, options.principal)
  if (decided !== undefined) return decided ? undefined : nothing
  switch (rule.kind) {
    case 'any':
      return unite(rule.rules.map((each) => findersOf(each, collection, options)))
    case 'all':
      return findByOne(rule.rules, collection, options)
    case 'through': {
      const { target } = collection.fields.get(rule.relation) ?? {}
      const nested = target?.rules?.[rule.action]
      if (!target || !nested) return nothing
      return findThrough(rule.relation, collection, findersOf(nested, target, options))
    }
    case 'has':
    case 'compare':
    case 'in':
    case 'isNull':
      return findByCondition(rule, collection, options)
    default:
      return undefined
  }
}

function unite(finders: readonly (Finder | undefined)[]): Finder | undefined {
  if (!finders.every((each) => each !== undefined)) return undefined
  return {
    sources: finders.flatMap(({ sources }) => sources),
    isExact: finders.every(({ isExact }) => isExact),
  }
}

/** By the condition with the fewest sources; the others are checked. */
function findByOne(rules: readonly Rule[], collection: Described, options: FinderOptions): Finder | undefined {
  const open = rules.filter((each) => decideRule(each, options.principal) === undefined)
  const finders = open.flatMap((each) => findersOf(each, collection, options) ?? [])
  const [fewest] = finders.toSorted((a, b) => a.sources.length - b.sources.length)
  return fewest && { ...fewest, isExact: fewest.isExact && open.length === 1 }
}

function findThrough(relation: string, collection: Described, found: Finder | undefined): Finder | undefined {
  return (
    found && {
      isExact: found.isExact,
      sources: found.sources.map((source) => ({ kind: 'related', of: collection, column: relation, source })),
    }
  )
}

function findByCondition(
  rule: Extract<Rule, { field: unknown }>,
  collection: Described,
  options: FinderOptions,
): Finder | undefined {
  const found = resolvePath(rule.field, collection)
  if (!found || rule.field.side !== 'row') return undefined
  const { field, through } = found
  if ('operand' in rule) {
    const { operand } = rule
    if (operand.kind === 'field') return undefined
    if (operand.kind === 'me' ? options.principal.id === undefined : operand.value === null) return nothing
  }
  if (through) {
    const { target } = through
    if (!target?.rules) return undefined
    const nested = { ...rule, field: { ...rule.field, names: rule.field.names.slice(1) } }
    return findThrough(through.name, collection, findByCondition(nested, target, options))
  }
  if (rule.kind === 'has') {
    const write = (params: Params, alias: string) =>
      `${alias}.value = ${writeItem(rule, collection, { ...options, params, alias })}`
    return { sources: [{ kind: 'items', of: collection, items: listTableOf(collection, field), write }], isExact: true }
  }
  if (!isFoundByIndex(field, collection)) return undefined
  if (rule.kind === 'in' && rule.values.length === 0) return nothing
  if (rule.kind === 'compare' && (rule.operator === 'isNot' || comparesDays(field, rule.operand, collection)))
    return undefined
  const isEqual = rule.kind === 'isNull' || (rule.kind === 'compare' && rule.operator === 'is')
  const write = (params: Params, alias: string) => writeRule(rule, collection, { ...options, params, alias }) as string
  return { sources: [{ kind: 'column', of: collection, column: field.name, isEqual, write }], isExact: true }
}

export interface FoundOptions {
  dialect: Dialect
  params: Params
  /** Of each source. Part of the text, because PostgreSQL plans for it. */
  most: number
}

/** Selects the ids of rows that are not deleted. */
export function writeFound({ sources }: Finder, options: FoundOptions): string {
  const found = sources.map((source) => `SELECT id FROM (${writeSource(source, options)}) AS one`)
  return found.join(' UNION ')
}

/** The same of rows that meet the rule, for a finder that is not exact: `most` bounds what is left of what it finds. */
export function writeAllowed(
  { sources }: Finder,
  { rule, of }: { rule: string; of: Described },
  options: FoundOptions,
): string {
  const { most } = options
  const allowed = sources.map(
    (source) => `SELECT id FROM (SELECT target.id FROM (${writeSource(source, { ...options, most: undefined })}) AS one
      CROSS JOIN ${quote(of.table)} AS target WHERE target.id = one.id AND ${rule} LIMIT ${most}) AS allowed`,
  )
  return allowed.join(' UNION ')
}

type SourceOptions = Omit<FoundOptions, 'most'> & { most: number | undefined }

function writeSource(source: Source, options: SourceOptions): string {
  const { from, where } = writeSteps(source, 0, options)
  const limit = options.most === undefined ? '' : ` LIMIT ${options.most}`
  return `SELECT found_0.id FROM ${from}${where.length > 0 ? ` WHERE ${where.join(' AND ')}` : ''}${limit}`
}

interface Steps {
  from: string
  where: readonly string[]
}

/**
 * Each step looks up rows by the one before it. SQLite joins in this order with CROSS JOIN. PostgreSQL chooses its own, and
 * may read the whole table where it expects much: a limit in each step keeps it from that.
 */
function writeSteps(source: Source, depth: number, options: SourceOptions): Steps {
  const { dialect, params } = options
  const alias = `found_${depth}`
  const table = `${quote(source.of.table)} AS ${alias}`
  const live = `${alias}.deleted_at IS NULL`
  const before = source.kind === 'related' ? writeSteps(source.source, depth + 1, options) : writeItems(source)
  const condition = {
    column: () => (source as Extract<Source, { kind: 'column' }>).write(params, alias),
    items: () => `${alias}.id = item_${depth}.row_id`,
    related: () => `${alias}.${quote((source as Extract<Source, { kind: 'related' }>).column)} = found_${depth + 1}.id`,
  }[source.kind]()
  if (dialect === 'sqlite') {
    const from = before ? `${before.from} CROSS JOIN ${table}` : table
    return { from, where: [...(before?.where ?? []), condition, live] }
  }
  const range =
    depth > 0 || options.most === undefined || source.kind === 'items' ? 'OFFSET 0' : `LIMIT ${options.most}`
  const order =
    range === 'OFFSET 0' || source.kind === 'items' ? '' : ` ORDER BY ${alias}.${quote(source.column)}, ${alias}.id`
  const step = `(SELECT ${alias}.id FROM ${table} WHERE ${condition} AND ${live}${order} ${range}) AS ${alias}`
  return { from: before ? `${before.from} CROSS JOIN LATERAL ${step}` : step, where: before?.where ?? [] }

  function writeItems(each: Exclude<Source, { kind: 'related' }>): Steps | undefined {
    if (each.kind === 'column') return undefined
    const item = `item_${depth}`
    return { from: `${each.items} AS ${item}`, where: [each.write(params, item)] }
  }
}
