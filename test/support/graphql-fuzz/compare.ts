/** Runs random documents on a random schema: five times on the engine, once on plain graphql-js. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { execute, type GraphQLError, type GraphQLFormattedError, Kind, parse, printSchema, validate } from 'graphql'
import { AppError } from '../../../src/core/app-error.ts'
import type { Principal } from '../../../src/platform/access/route-guards.ts'
import { createMemoryBus } from '../../../src/platform/bus/memory.ts'
import { createEngine } from '../../../src/platform/graphql/execution/engine.ts'
import { formatThrown } from '../../../src/platform/graphql/execution/graphql-errors.ts'
import { RefusedRequest } from '../../../src/platform/graphql/execution/refused-request.ts'
import type { Context } from '../../../src/platform/graphql/schema/elements.ts'
import { createLogger } from '../../../src/platform/log/logger.ts'
import { createRandom } from './random.ts'
import { type Asked, createAsked } from './random-document.ts'
import { createPlainSchema, createSchemaSpec, createTestElements } from './random-schema.ts'

const log = createLogger({ level: 'silent', isTerminal: false })
const limits = { bytes: 65_536, tokens: 5000, depth: 50, aliases: 500, cost: 1_000_000 }
const somebody = { id: 1, hasRole: () => true, can: () => true } as unknown as Principal

const documentsPerSchema = 12
const timesAsked = 5

interface Outcome {
  data: unknown
  /**
   * Where something became null because of an error, with the codes of the errors of that very place. Of several below
   * it that each made it null, any may be told.
   */
  nulled: Map<string, Set<string>>
}

/** Whose promises are being rejected. graphql-js forgets some of its own. */
export const phase: { current: 'plain' | 'engine' } = { current: 'plain' }

/** Work for a failed response continues for at most this many turns. */
const turnsLeft = 12

export interface Tally {
  documents: number
  refused: number
  failed: number
}

/** Returns the counterexample, ready to be read, where there is one. */
export async function compareSeed(seed: number, tally: Tally): Promise<string | undefined> {
  const random = createRandom(seed)
  const spec = createSchemaSpec(random, seed)
  const plain = createPlainSchema(spec)
  const engine = createEngine({
    elements: createTestElements(spec),
    policies: { requireKnown() {}, allow: async () => true },
    bus: createMemoryBus({ log }),
    log,
    limits,
    allowsIntrospection: true,
  })
  const context: Context = {
    principal: random.chance(0.5) ? somebody : undefined,
    client: { address: '', userAgent: '' },
    log,
  }
  for (let i = 0; i < documentsPerSchema; i++) {
    const asked = createAsked(random, spec)
    if (validate(plain, parse(asked.query)).length > 0) continue
    tally.documents += 1
    const difference = await compareDocument(asked)
    if (difference) {
      return [`seed ${seed}: ${difference}`, asked.query, JSON.stringify(asked.variables), printSchema(plain)].join(
        '\n\n',
      )
    }
  }
  return undefined

  async function compareDocument({ query, variables }: Asked): Promise<string | undefined> {
    const document = parse(query)
    // graphql-js takes what every object inherits for fields of an input.
    const variableValues = JSON.parse(JSON.stringify(variables), withoutPrototype)
    phase.current = 'plain'
    const expected = await execute({ schema: plain, document, contextValue: context, variableValues })
    if (expected.errors) await settle()
    phase.current = 'engine'
    const isRefused = !('data' in expected)
    if (expected.errors) tally.failed += 1
    for (let time = 1; time <= timesAsked; time++) {
      let text: string
      try {
        text = (await engine.execute(engine.prepare({ query, variables }), context)).text
      } catch (error) {
        if (!(error instanceof RefusedRequest)) throw error
        tally.refused += 1
        if (isRefused) return undefined
        return `refused: ${error.message}\n\nexpected ${JSON.stringify(expected)}`
      }
      if (expected.errors) await settle()
      if (isRefused) return `time ${time}: not refused, but ${text}\n\nexpected ${JSON.stringify(expected)}`
      const response = JSON.parse(text)
      const problem = findDifference(
        outcomeOf(response.data, response.errors ?? []),
        outcomeOf(JSON.parse(JSON.stringify(expected.data)), (expected.errors ?? []).map(toFormatted)),
      )
      if (problem) return `time ${time}: ${problem}\n\n${text}\n\nexpected ${JSON.stringify(expected)}`
    }
    return undefined
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < turnsLeft; i++) await nextTurn()
}

function findDifference(got: Outcome, expected: Outcome): string | undefined {
  if (!isDeepStrictEqual(got.data, expected.data)) return 'other data'
  if (JSON.stringify(got.data) !== JSON.stringify(expected.data)) return 'another order of the data'
  const [places, expectedPlaces] = [[...got.nulled.keys()].sort(), [...expected.nulled.keys()].sort()]
  if (!isDeepStrictEqual(places, expectedPlaces)) return `errors at ${places}, expected at ${expectedPlaces}`
  for (const [place, codes] of got.nulled) {
    const expectedCodes = expected.nulled.get(place) as Set<string>
    if (codes.size > 0 && expectedCodes.size > 0 && codes.isDisjointFrom(expectedCodes))
      return `${[...codes]} at ${place}, expected ${[...expectedCodes]}`
  }
  return undefined
}

function withoutPrototype(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.assign(Object.create(null), value)
}

function outcomeOf(data: unknown, errors: readonly GraphQLFormattedError[]): Outcome {
  const nulled = new Map<string, Set<string>>()
  for (const { path = [], extensions } of errors) {
    let value = data
    let depth = 0
    while (depth < path.length && value !== null && value !== undefined) {
      value = (value as Record<string | number, unknown>)[path[depth] as string | number]
      depth += 1
    }
    const place = path.slice(0, depth).join('.')
    const codes = nulled.get(place) ?? new Set()
    nulled.set(place, depth === path.length ? codes.add(String(extensions?.code)) : codes)
  }
  return { data, nulled }
}

function toFormatted({ path, nodes, originalError, extensions }: GraphQLError): GraphQLFormattedError {
  const isVariable = nodes?.[0]?.kind === Kind.VARIABLE
  const own = isVariable ? 'BAD_USER_INPUT' : typeof extensions.code === 'string' ? extensions.code : undefined
  const code =
    own ?? (originalError instanceof AppError ? formatThrown(originalError, log).extensions?.code : undefined)
  return { message: '', ...(path && { path }), extensions: { code: code ?? 'INTERNAL_SERVER_ERROR' } }
}
