/** One database with its clients, for a number of rounds. */
import { latchkey } from '../../../support/process.ts'
import { createRegistrar, createRoleWriter, createRotator, register } from './account-writers.ts'
import { type Caller, untilAnswered } from './caller.ts'
import { findDifferences } from './checks.ts'
import { createProductWriter } from './product-writer.ts'
import { openReader } from './reader.ts'
import { type Expected, password, type Writer, type WriterParts } from './writer.ts'

export interface World {
  writers: readonly Writer[]
  /** Finds out what became of the writes that were not answered, then compares. Throws if something is wrong. */
  check(options: { isThorough: boolean }): Promise<void>
}

export interface WorldOptions {
  caller: Caller
  databaseUrl: string
  /** Writers of products, and as many that refresh; half as many register, and change roles. */
  workers: number
  random(): number
}

/** The service must be running. */
export async function createWorld({ caller, databaseUrl, workers, random }: WorldOptions): Promise<World> {
  const expected: Expected = { people: new Map(), products: new Map() }
  const parts: WriterParts = { caller, expected, random }
  const numbers = Array.from({ length: workers }, (_, i) => i)
  const half = numbers.slice(0, Math.ceil(workers / 2))
  const token = await createAdministrator(parts, databaseUrl)
  const people = (name: string, of: number[]) => Promise.all(of.map((i) => register(parts, `${name}-${i}@example.com`)))
  const writers: Writer[] = [
    ...(await people('writer', numbers)).map(({ access_token }, i) =>
      createProductWriter(parts, { name: `Product ${i}`, token: access_token }),
    ),
    ...(await people('rotator', numbers)).map((signedIn) => createRotator(parts, signedIn)),
    ...(await people('role', half)).map(({ id, person }) => createRoleWriter(parts, { id, person, token })),
    ...half.map((i) => createRegistrar(parts, `user-${i}`)),
  ]
  return {
    writers,
    async check({ isThorough }) {
      await Promise.all(writers.map(({ settle }) => untilAnswered(settle)))
      const reader = await openReader(databaseUrl)
      try {
        const wrong = await findDifferences(reader, expected)
        if (isThorough) wrong.push(...(await reader.findDamage()))
        if (wrong.length > 0) throw new Error(wrong.slice(0, maxShown).join('\n'))
      } finally {
        await reader.close()
      }
      await checkSearch(parts)
    },
  }
}

const maxShown = 20

async function createAdministrator({ caller, expected }: WriterParts, databaseUrl: string): Promise<string> {
  const email = 'admin@example.com'
  const env = { DATABASE_URL: databaseUrl, BCRYPT_COST: '4' }
  const made = await latchkey(['user:create', '--email', email, '--role', 'admin'], { env, input: `${password}\n` })
  if (made.code !== 0) throw new Error(made.stderr)
  const { body } = await caller.call([200], { path: '/api/auth/login', body: { email, password } })
  const { body: me } = await caller.call([200], { path: '/me', token: body.access_token })
  expected.people.set(me.id, { email, roles: ['admin'], logins: 1, refreshes: 0 })
  return body.access_token
}

/** The index of names has what the rows have: one of them is looked for. */
async function checkSearch({ caller, expected, random }: WriterParts): Promise<void> {
  const products = [...expected.products]
  const [id, product] = products[Math.floor(random() * products.length)] ?? []
  if (!product) return
  // Labels may begin alike, so the number of the change is looked for too.
  const path = `/api/v2/products?q=${encodeURIComponent(`${product.label} ${product.change}`)}`
  await untilAnswered(async () => {
    const { body } = await caller.call([200], { path })
    const isFound = body.data.some((each: { id: number }) => each.id === id)
    if (isFound === product.isDeleted) throw new Error(`product ${id} is ${isFound ? '' : 'not '}found by its name`)
  })
}
