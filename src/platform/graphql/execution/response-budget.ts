/**
 * How large an answer may be. What a document may cost counts objects beforehand, but objects may be long, and how many
 * a search finds is not known beforehand. What is counted is what is answered: fields that nobody asks for are free, and
 * one that is asked for twice, by aliases, counts twice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { GraphQLError } from 'graphql'
import { createFairQueue } from '../../../core/fair-queue.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { rateKey } from '../../limiter/limiter.ts'
import type { Context } from '../schema/elements.ts'
import type { Selection } from '../schema/selection.ts'
import type { AnswerBudget } from './answer-budget.ts'

/** Written down in some twenty milliseconds, in which nobody else is served. A hundred posts of the largest size fit. */
const maxCharacters = 8 * 1024 * 1024

/** Of all objects that were read; completed in some ten milliseconds too. */
const maxFields = 50_000

/** An answer that holds more is a long one. */
const longCharacters = 128 * 1024

/** So many long answers are made at once, each in some 40 MB at most. The others wait, and addresses take turns. */
const longAnswers = createFairQueue({
  atOnce: 4,
  maxPerClient: 256,
  maxWaiting: 4096,
  full: httpErrors.unavailable,
  gone: httpErrors.unavailable,
})

export interface Room {
  /** How many objects of the selection there is room for. */
  objects: number
  characters: number
}

/** What one run of an operation has taken of a budget. */
interface Taken {
  readonly budget: AnswerBudget
  characters: number
  fields: number
  isOver: boolean
}

const takenBy = new WeakMap<Context, Taken>()

export interface Read<Row> {
  context: Context
  /** What is asked of each row. Undefined: nothing. */
  selection: Selection | undefined
  read(room: Room): Promise<readonly Row[]>
}

/**
 * Rows have the names of the fields. The reads of one answer take turns, so that no more than one of them can go beyond
 * what is left: long lists are to be read in parts.
 */
export function readWithin<Row extends object>({ context, selection, read }: Read<Row>): Promise<readonly Row[]> {
  const taken = takenOf(context)
  const { budget } = taken
  const { sizeOf, fieldsPerRow } = measure(selection)
  const reading = budget.lastRead.then(async () => {
    if (budget.characters < 0) throw answerTooLarge()
    const objects = Math.max(0, Math.floor(budget.fields / fieldsPerRow))
    const rows = await read({ objects, characters: budget.characters })
    let characters = 0
    for (const row of rows) characters += sizeOf(row)
    take(taken, characters, rows.length * fieldsPerRow)
    if (budget.characters < 0) throw answerTooLarge()
    await makeWay({ context, characters: 0 })
    return rows
  })
  budget.lastRead = reading.catch(() => {})
  return reading
}

export function createAnswerBudget(): AnswerBudget {
  return { characters: maxCharacters, fields: maxFields, lastRead: Promise.resolve(), isEnded: false }
}

/** To be called once a whole answer is written down. */
export function endBudget(budget: AnswerBudget): void {
  budget.isEnded = true
  budget.release?.()
}

/** To be called once the answer of one operation is written down, or has failed. What is not answered does not count. */
export function endAnswer(context: Context, { isAnswered = true } = {}): void {
  const taken = takenBy.get(context)
  if (!taken) return
  if (!isAnswered) take(taken, -taken.characters, -taken.fields)
  taken.isOver = true
  if (!context.budget) endBudget(taken.budget)
}

function takenOf(context: Context): Taken {
  const known = takenBy.get(context)
  if (known) return known
  const taken = { budget: context.budget ?? createAnswerBudget(), characters: 0, fields: 0, isOver: false }
  takenBy.set(context, taken)
  return taken
}

/** What is still read for an operation that is over, because one of its fields has failed, is answered to nobody. */
function take(taken: Taken, characters: number, fields: number): void {
  if (taken.isOver) return
  taken.characters += characters
  taken.fields += fields
  taken.budget.characters -= characters
  taken.budget.fields -= fields
}

/**
 * Waits for a place among the long answers where so many more characters make it a long one. To be called before they are
 * read: what a hundred operations have read while they wait would be in memory all at once.
 */
export async function makeWay({ context, characters }: { context: Context; characters: number }): Promise<void> {
  const { budget } = takenOf(context)
  if (budget.release || maxCharacters - budget.characters + characters <= longCharacters) return
  const { client } = context
  const { isGone } = client
  budget.release = await new Promise<() => void>((resolve, reject) => {
    const hold = () => new Promise<void>((release) => resolve(release))
    longAnswers.run({ client: rateKey(client.address), isUrgent: true, ...(isGone && { isGone }) }, hold).catch(reject)
  })
  // One field has failed and ended the operation while another still waited.
  if (budget.isEnded) budget.release()
  await ownTurn()
}

let lastTurn: Promise<void> = Promise.resolve()

/** A turn of the event loop for each long answer: made one right after the other, they would let nobody else in. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn())
  return lastTurn
}

export function answerTooLarge(): GraphQLError {
  const message = `The answer would hold more than ${maxCharacters} characters: ask for less at once`
  return new GraphQLError(message, { extensions: { code: 'ANSWER_TOO_LARGE' } })
}

/** Quotes, colon and comma around a name and its value. */
const punctuation = 6

function measure(selection: Selection | undefined) {
  const asked = [...(selection?.fields ?? [])].map(([field, { names }]) => ({ field, times: names.length, names }))
  const fieldsPerRow = 1 + asked.reduce((sum, { times }) => sum + times, 0)
  const fixed = asked.reduce((sum, { names }) => sum + names.join('').length + names.length * punctuation, 0)
  return {
    fieldsPerRow,
    sizeOf(row: object): number {
      let size = fixed
      for (const { field, times } of asked) size += times * lengthOf((row as Record<string, unknown>)[field])
      return size
    },
  }
}

/** Numbers and the like are short. */
function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 8
}
