/** Adds made-up rows, the same for the same seed. */

import { AppError } from '../../core/app-error.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { createNumbers } from '../../core/seeded-numbers.ts'
import type { CommandContext } from '../../platform/command-line/command.ts'
import { describeFailure } from '../../platform/command-line/database-failure.ts'
import { listenForInterrupt } from '../../platform/command-line/interrupt.ts'
import { createProgress, displayOn, formatCount, formatDuration } from '../../platform/command-line/progress.ts'
import type { Database } from '../../platform/database/database.ts'
import { describeDetails } from '../../platform/validation/body-validation.ts'
import { system } from '../actor.ts'
import { type Described, type DescribedField, maxTextOf } from '../declare/describe.ts'
import type { FieldDefinition } from '../declare/fields.ts'
import { quote } from '../schema/tables.ts'
import { writableFieldsOf } from '../store/values.ts'
import type { OpenCollection } from './export.ts'

export interface SeedOptions {
  count: number
  seed: number
  force?: boolean
  quiet?: boolean
}

const maxCount = 1_000_000
const atOnce = 200
/** Of the rows that relations refer to. */
const maxRelated = 1000
const dayMs = 86_400_000
const firstDay = Date.UTC(2026, 0, 1)
const syllables = 'ba be da do fa fe ga go ka ke la lo ma me na no pa po ra re sa so ta te'.split(' ')

export async function seedRows({ config, open }: CommandContext<OpenCollection>, given: SeedOptions): Promise<void> {
  const { count, seed } = given
  if (count < 1 || count > maxCount)
    throw new FatalError(`--count must be from 1 to ${formatCount(maxCount)}`, exitCodes.usage)
  if (config.environment === 'production' && !given.force) {
    throw new FatalError('NODE_ENV is production: made-up rows need --force there', exitCodes.usage)
  }
  const interrupt = listenForInterrupt()
  const { service: opened, infrastructure, close } = await open()
  const { service } = opened.internals
  const { clock, db } = infrastructure
  const progress = createProgress({ clock, stream: process.stderr, display: displayOn(process.stderr, given) })
  const start = clock.now()
  let made = 0
  try {
    const invent = await createInventor(db, service.collection, seed)
    progress.update({ total: count })
    while (made < count && !interrupt.signal.aborted) {
      const some = Array.from({ length: Math.min(atOnce, count - made) }, () => invent())
      await Promise.all(some.map((row) => service.create(row, system)))
      made += some.length
      progress.update({ done: made, rows: made })
    }
    progress.end()
    process.stdout.write(`made ${formatCount(made)} in ${formatDuration(clock.now() - start)}\n`)
    if (made < count) throw new FatalError('interrupted; what was made is kept', interrupt.exitCode())
  } catch (error) {
    if (error instanceof AppError && error.status < 500) {
      throw new FatalError(`such rows cannot be made up: ${describeDetails(error) ?? error.message}`, exitCodes.badData)
    }
    throw describeFailure(error, `${formatCount(made)} made so far are kept`)
  } finally {
    progress.end()
    interrupt.release()
    await close()
  }
}

async function createInventor(db: Database, collection: Described, seed: number): Promise<() => object> {
  const fraction = createNumbers(seed)
  const below = (end: number) => Math.floor(fraction() * end)
  const pick = <T>(all: readonly T[]) => all[below(all.length)] as T
  const fields = writableFieldsOf(collection)
  const related = new Map<Described, readonly number[]>()
  for (const { target, definition, name } of fields) {
    if (!target || related.has(target)) continue
    const live = target.rules ? ' WHERE deleted_at IS NULL' : ''
    const rows = await db.all<{ id: number }>(
      `SELECT id FROM ${quote(target.table)}${live} ORDER BY id LIMIT ${maxRelated}`,
    )
    if (rows.length === 0 && !definition.options.optional && definition.kind !== 'list') {
      throw new FatalError(`"${name}" must refer to one of ${target.name}, and there are none yet`, exitCodes.badData)
    }
    related.set(
      target,
      rows.map(({ id }) => id),
    )
  }

  function word(): string {
    return Array.from({ length: 2 + below(3) }, () => pick(syllables)).join('')
  }

  function textFor(definition: FieldDefinition): string {
    const { min = 1, multiline } = definition.options
    const max = Math.min(maxTextOf(definition), multiline ? 400 : 60)
    let text = word()
    while (text.length < Math.max(min, Math.min(max, multiline ? 120 : 16))) text += ` ${word()}`
    return `${text[0]?.toUpperCase()}${text.slice(1)}`.slice(0, max)
  }

  function valueFor(definition: FieldDefinition, target: Described | undefined, isUnique: boolean): unknown {
    const { kind, options, values = [] } = definition
    const { min = 0, max = min + 1000 } = options
    if (target && kind !== 'list') return pick(related.get(target) ?? [])
    switch (kind) {
      case 'integer':
        return Math.ceil(min) + below(Math.floor(max) - Math.ceil(min) + 1)
      case 'decimal':
        return Math.min(
          max,
          Math.round((min + fraction() * (max - min)) * 10 ** (options.scale ?? 0)) / 10 ** (options.scale ?? 0),
        )
      case 'boolean':
        return below(2) === 1
      case 'choice':
        return pick(values)
      case 'time':
        return new Date(firstDay + below(365 * dayMs)).toISOString()
      case 'day':
        return new Date(firstDay + below(365) * dayMs).toISOString().slice(0, 10)
      case 'email':
        return `${word()}${below(1e9)}@example.com`
      case 'url':
        return `https://example.com/${word()}${below(1e9)}`
      case 'json':
        return { [word()]: below(100) }
      case 'list': {
        const item = definition.item as FieldDefinition
        const length = target && (related.get(target) ?? []).length === 0 ? 0 : below(Math.min(options.max ?? 4, 4))
        return [...new Set(Array.from({ length }, () => valueFor(item, target, false)))]
      }
      default:
        return isUnique ? `${word()} ${below(1e9)}`.slice(0, maxTextOf(definition)) : textFor(definition)
    }
  }

  const invent = ({ definition, target, name }: DescribedField): [string, unknown] => {
    const { optional, unique, uniqueWithin } = definition.options
    const isNone = optional && (below(4) === 0 || (target && related.get(target)?.length === 0))
    return [name, isNone ? null : valueFor(definition, target, unique === true || uniqueWithin !== undefined)]
  }
  return () => Object.fromEntries(fields.map(invent))
}
