/**
 * Limits the size of responses. The cost limit counts objects in advance, but objects may be long, and the number of
 * search results is not known in advance. Only selected fields count, once per alias.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { GraphQLError } from 'graphql'
import { clientGone } from '../../../core/current-client.ts'
import { createFairQueue } from '../../../core/fair-queue.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { rateKey } from '../../limiter/limiter.ts'
import type { Context } from '../schema/elements.ts'
import type { Selection } from '../schema/selection.ts'
import type { ResponseBudget } from './response-budget.types.ts'

/** Serializing this much blocks the event loop for about 20 ms. A hundred posts of maximum size fit. */
const maxCharacters = 8 * 1024 * 1024

/** Over all objects; completing this many takes about 10 ms. */
const maxFields = 50_000

/** Beyond it a response counts as long. */
const longCharacters = 128 * 1024

/** Long responses take up to about 40 MB each while they are built. The others wait, fairly by address. */
const longResponses = createFairQueue({
  atOnce: 4,
  maxPerClient: 256,
  maxWaiting: 4096,
  full: httpErrors.unavailable,
  gone: clientGone,
})

export interface RemainingBudget {
  /** The number of objects with this selection. */
  objects: number
  characters: number
}

/** What one execution of an operation has charged to a budget. */
interface Usage {
  readonly budget: ResponseBudget
  characters: number
  fields: number
  isOver: boolean
}

const usages = new WeakMap<Context, Usage>()

export interface Read<Row> {
  context: Context
  /** The fields selected of each row, if any. */
  selection: Selection | undefined
  read(remaining: RemainingBudget): Promise<readonly Row[]>
}

/**
 * Reads rows, whose properties are named like the fields, and charges them to the budget. The reads of one response run
 * one after the other, so that only one of them can overshoot it; long lists should be read in parts.
 */
export function readWithin<Row extends object>({ context, selection, read }: Read<Row>): Promise<readonly Row[]> {
  const usage = usageOf(context)
  const { budget } = usage
  const { sizeOf, fieldsPerRow } = measure(selection)
  const reading = budget.lastRead.then(async () => {
    if (budget.characters < 0) throw responseTooLarge()
    const objects = Math.max(0, Math.floor(budget.fields / fieldsPerRow))
    const rows = await read({ objects, characters: budget.characters })
    let characters = 0
    for (const row of rows) characters += sizeOf(row)
    charge(usage, characters, rows.length * fieldsPerRow)
    if (budget.characters < 0) throw responseTooLarge()
    await awaitLongResponseSlot({ context, characters: 0 })
    return rows
  })
  budget.lastRead = reading.catch(() => {})
  return reading
}

export function createResponseBudget(): ResponseBudget {
  return { characters: maxCharacters, fields: maxFields, lastRead: Promise.resolve(), isEnded: false }
}

/** Call once the whole response is serialized. */
export function endBudget(budget: ResponseBudget): void {
  budget.isEnded = true
  budget.release?.()
}

/** Call once the response of one operation is serialized or has failed. With `isUsed: false` its usage is refunded. */
export function endResponse(context: Context, { isUsed = true } = {}): void {
  const usage = usages.get(context)
  if (!usage) return
  if (!isUsed) charge(usage, -usage.characters, -usage.fields)
  usage.isOver = true
  if (!context.budget) endBudget(usage.budget)
}

function usageOf(context: Context): Usage {
  const known = usages.get(context)
  if (known) return known
  const usage = { budget: context.budget ?? createResponseBudget(), characters: 0, fields: 0, isOver: false }
  usages.set(context, usage)
  return usage
}

/** Ignores reads that outlive their operation, which ends as soon as one field fails. */
function charge(usage: Usage, characters: number, fields: number): void {
  if (usage.isOver) return
  usage.characters += characters
  usage.fields += fields
  usage.budget.characters -= characters
  usage.budget.fields -= fields
}

/**
 * Waits for a slot if this many more characters make the response a long one. Call before reading them: otherwise all
 * waiting operations would hold their rows in memory.
 */
export async function awaitLongResponseSlot({
  context,
  characters,
}: {
  context: Context
  characters: number
}): Promise<void> {
  const { budget } = usageOf(context)
  if (budget.release || maxCharacters - budget.characters + characters <= longCharacters) return
  const { client } = context
  const { isGone } = client
  budget.release = await new Promise<() => void>((resolve, reject) => {
    const hold = () => new Promise<void>((release) => resolve(release))
    longResponses
      .run({ client: rateKey(client.address), isUrgent: true, ...(isGone && { isGone }) }, hold)
      .catch(reject)
  })
  // Another field may have failed, and ended the operation, while this one waited.
  if (budget.isEnded) budget.release()
  await ownTick()
}

let lastTick: Promise<void> = Promise.resolve()

/** Gives each long response a tick of its own: built back to back, they would block the event loop. */
function ownTick(): Promise<void> {
  lastTick = lastTick.then(() => yieldToEventLoop())
  return lastTick
}

export function responseTooLarge(): GraphQLError {
  const message = `The answer would hold more than ${maxCharacters} characters: ask for less at once`
  return new GraphQLError(message, { extensions: { code: 'ANSWER_TOO_LARGE' } })
}

/** Quotes, colon and comma around a name and its value. */
const punctuation = 6

function measure(selection: Selection | undefined) {
  const selected = [...(selection?.fields ?? [])].map(([field, { names }]) => ({ field, times: names.length, names }))
  const fieldsPerRow = 1 + selected.reduce((sum, { times }) => sum + times, 0)
  const fixed = selected.reduce((sum, { names }) => sum + names.join('').length + names.length * punctuation, 0)
  return {
    fieldsPerRow,
    sizeOf(row: object): number {
      let size = fixed
      for (const { field, times } of selected) size += times * lengthOf((row as Record<string, unknown>)[field])
      return size
    },
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 8
}
