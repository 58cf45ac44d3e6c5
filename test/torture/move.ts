/**
 * A million products and 10,000 users with sessions, second factors and keys, moved from SQLite to PostgreSQL and back.
 * Every row must be equal, and every refresh token from before must work afterwards. Arguments are the numbers of products
 * and users, and a SQLite file to begin with instead of made-up products: npm run torture move 10000 100
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { startService, type TestService } from '../../src/testing/start-service.ts'
import { placeOf, tablesOfDatabase } from '../support/archives.ts'
import { startPostgres } from '../support/servers.ts'
import type { Torture } from './main.ts'
import { addPeople, type Person } from './support/people.ts'

export const torture: Torture = async ({ folder, args }) => {
  const [products = '1000000', people = '10000', given] = args
  const sqlite = `file:${join(folder, 'latchkey.db')}`
  const back = `file:${join(folder, 'back.db')}`
  const postgres = await startPostgres(folder)

  if (given === undefined) run(sqlite, 'products:seed', '--count', products, '--quiet')
  else run(`file:${resolve(given)}`, 'move', '--to', sqlite, '--quiet')
  const signedIn = await onService(sqlite, (service) => addPeople(service, Number(people)))
  const before = await tables(sqlite)
  say(run(sqlite, 'move', '--to', postgres, '--quiet'))
  assert.deepEqual(await tables(postgres), before)
  say('every row of PostgreSQL is that of SQLite')
  say(run(postgres, 'move', '--to', back, '--quiet'))
  assert.deepEqual(await tables(back), before)
  say('every row came back')

  // Each place refreshes the tokens from before the moves: a half in PostgreSQL, all the others back in SQLite.
  const half = Math.ceil(signedIn.length / 2)
  await onService(postgres, (service) => refreshAll(service, signedIn.slice(0, half)))
  await onService(back, (service) => refreshAll(service, signedIn.slice(half)))
  say(`${signedIn.length} of ${signedIn.length} refresh tokens from before refreshed after`)
}

function say(text: string): void {
  process.stdout.write(`${text.trimEnd()}\n`)
}

function run(url: string, ...args: string[]): string {
  return execFileSync(join(root, 'bin', 'latchkey'), args, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: url },
  })
}

async function onService<T>(databaseUrl: string, work: (service: TestService) => Promise<T>): Promise<T> {
  const environment = {
    RATE_LIMIT_REFRESH: '1000000/60',
    RATE_LIMIT_LOGIN: '1000000/60',
    RATE_LIMIT_REGISTER: '1000000/60',
    RATE_LIMIT_VERIFY: '1000000/60',
    RATE_LIMIT_KEYS: '1000000/60',
  }
  const service = await startService({ databaseUrl, environment })
  // Its clock begins up to 30 s early, and tokens from the future are refused.
  service.clock.advance(30)
  try {
    return await work(service)
  } finally {
    await service.close()
  }
}

/** Archives are compared: row counts, checksums and counters of all tables. */
async function tables(url: string): Promise<object> {
  const cleanUps: (() => unknown)[] = []
  const t = { after: (work: () => unknown) => void cleanUps.push(work) } as unknown as TestContext
  try {
    const found = await tablesOfDatabase(t, placeOf(url))
    say(
      `  ${Object.entries(found)
        .flatMap(([name, { rows }]) => (rows > 0 ? [`${name} ${rows}`] : []))
        .join(', ')}`,
    )
    return found
  } finally {
    for (const cleanUp of cleanUps) await cleanUp()
  }
}

async function refreshAll(service: TestService, people: readonly Person[]): Promise<void> {
  const waiting = [...people]
  const refuseds: string[] = []
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let person = waiting.pop(); person; person = waiting.pop()) {
        const { status } = await service.post('/api/auth/refresh', { refresh_token: person.refresh })
        if (status !== 200) refuseds.push(`${person.email}: ${status}`)
      }
    }),
  )
  assert.deepEqual(refuseds, [])
}
