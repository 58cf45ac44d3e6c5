/** What resolvers return: the same for the same field of the same object, and everything that one may return. */
import { GraphQLError } from 'graphql'
import { AppError } from '../../../src/core/app-error.ts'
import { type Random, randomOf } from './random.ts'
import type { FieldSpec } from './random-schema.ts'

export interface Resolved {
  type: string
  field: FieldSpec
  source: unknown
  args: unknown
}

export type Values = ReturnType<typeof createValues>

const maxDepth = 6

/** How likely it is that something is not what its type says. Some schemas have nothing of it. */
const oddities = [0, 0.03, 0.15] as const

export function createValues(seed: number, objects: Readonly<Record<string, readonly FieldSpec[]>>) {
  const oddity = oddities[seed % oddities.length] as number

  function resolve({ type, field, source, args }: Resolved): unknown {
    const place = placeOf(source)
    const given = JSON.stringify(args, (_key, value) => sorted(value))
    const key = `${seed} ${type}.${field.name} ${place} ${given}`
    const random = randomOf(key)
    if (field.type.replace('!', '') === 'String' && random.chance(0.5)) return given
    return valueFor(random, { type: field.type, key, depth: place.split('/').length })
  }

  interface Wanted {
    type: string
    key: string
    depth: number
  }

  function valueFor(random: Random, { type, key, depth }: Wanted): unknown {
    if (random.chance(oddity)) return oddValue(random)
    const isLater = random.chance(0.25)
    const value = settledValue(random, { type, key, depth })
    if (!isLater) return value
    // In the same turn, or only after others had theirs.
    return tolerated(
      random.chance(0.5) ? Promise.resolve(value) : new Promise((done) => setImmediate(() => done(value))),
    )
  }

  function settledValue(random: Random, { type, key, depth }: Wanted): unknown {
    const isNonNull = type.endsWith('!')
    const bare = isNonNull ? type.slice(0, -1) : type
    if (!isNonNull && random.chance(0.15)) return random.chance(0.5) ? null : undefined
    if (bare.startsWith('[')) {
      const length = depth > maxDepth ? 0 : random.below(4)
      const items = Array.from({ length }, (_, i) =>
        valueFor(random, { type: bare.slice(1, -1), key: `${key} ${i}`, depth }),
      )
      if (random.chance(0.15)) return new Set(items)
      return random.chance(0.1) ? iterableOf(items) : items
    }
    const fields = objects[bare]
    if (fields) return depth > maxDepth ? null : objectOf(random, { fields, type: bare, key, depth })
    return leafOf(random, bare)
  }

  function objectOf(random: Random, { fields, type, key, depth }: Wanted & { fields: readonly FieldSpec[] }): object {
    const place = `${'x/'.repeat(depth)}${randomOf(key).below(2 ** 30)}`
    const object: Record<string, unknown> = random.chance(0.2) ? Object.create({ inherited: true }) : {}
    Object.defineProperty(object, 'place', { value: place, enumerable: false })
    for (const field of fields) {
      if (field.by !== 'property') continue
      const read = () => {
        const own = `${seed} ${type}.${field.name} ${place}`
        return valueFor(randomOf(own), { type: field.type, key: own, depth: depth + 1 })
      }
      const form = random.below(10)
      if (form === 0) object[field.name] = read
      else if (form < 4 || depth > 2) Object.defineProperty(object, field.name, { get: read, enumerable: true })
      else object[field.name] = read()
    }
    return object
  }

  return { resolve }
}

function leafOf(random: Random, type: string): unknown {
  switch (type) {
    case 'Int':
      return random.pick([0, 1, -5, '12', true])
    case 'Float':
      return random.pick([0.5, -1e300, 3, '1.25', -0])
    case 'Boolean':
      return random.pick([true, false, 1, 0])
    case 'ID':
      return random.pick([1, 'x', '', 2 ** 40])
    default:
      return random.pick([
        '',
        'text',
        'a long text with "quotes" and \\ and so on and on and on',
        5,
        true,
        '\ud800 half',
      ])
  }
}

function oddValue(random: Random): unknown {
  switch (random.below(13)) {
    case 0:
      throw new Error('a secret')
    case 1:
      throw new AppError(404, 'Not found')
    case 2:
      throw new GraphQLError('Own', { extensions: { code: 'OWN' } })
    case 3:
      throw random.pick([undefined, null, 'text', 0])
    case 4:
      return tolerated(Promise.reject(new AppError(409, 'Conflict')))
    case 5:
      return tolerated(Promise.reject(random.pick([undefined, 'text', new Error('a secret')])))
    case 6:
      return new Error('returned')
    case 7:
      return null
    case 8:
      return random.pick(['text', 5, Number.NaN, Symbol('s'), () => 5, true])
    case 9:
      return failingIterable()
    case 10:
      return {
        get n() {
          throw new AppError(423, 'Locked')
        },
      }
    case 11:
      return Promise.resolve(null)
    default:
      return Promise.resolve(failingIterable())
  }
}

/** Fails in the middle, as often as it is gone through. */
function failingIterable(): Iterable<unknown> {
  return {
    *[Symbol.iterator]() {
      yield Promise.resolve(null)
      throw new AppError(412, 'Changed')
    },
  }
}

/** Neither a list nor a set, but can be gone through. */
function iterableOf(items: readonly unknown[]): Iterable<unknown> {
  return { [Symbol.iterator]: () => items[Symbol.iterator]() }
}

/** A promise that may be rejected before anybody reads it. */
function tolerated<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** What an object is told apart by. */
function placeOf(source: unknown): string {
  if (source === undefined) return 'root'
  return typeof source === 'object' && source !== null && 'place' in source
    ? String(source.place)
    : `odd ${typeof source}`
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
