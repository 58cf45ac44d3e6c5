/** A fresh database for each test, on either engine. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { createTestDatabase, engines as testEngines } from '../../src/testing/databases.ts'
import { chosen } from './tiers.ts'

export const engines = testEngines

type Suite = [title: string, tests: (engine: Dialect) => void, options?: { concurrency?: number }]

function describeOn(used: readonly Dialect[], ...[title, tests, { concurrency = 1 } = {}]: Suite): void {
  for (const engine of used) describe(`${title}, on ${engine}`, { concurrency }, () => tests(engine))
}

/** Runs the same tests on every engine: for statements, races and constraints, which each engine settles its own way. */
export function onEachEngine(...suite: Suite): void {
  describeOn(engines, ...suite)
}

/** For pages, texts and protocols, which do not depend on the engine: only `npm run test:full` uses PostgreSQL too. */
export function onAnyEngine(...suite: Suite): void {
  describeOn(anyEngines, ...suite)
}

/** Those of `onAnyEngine`. A suite for each engine returns before such tests if it is for another one. */
export const anyEngines = chosen(engines, (engine) => engine === 'sqlite')

/**
 * For races whose statements are the same on both: SQLite runs one write at a time, so PostgreSQL is where they show. Only
 * `npm run test:full` repeats them on SQLite, which is all that `npm run test:fast` has.
 */
export function onRacingEngine(...suite: Suite): void {
  describeOn(
    chosen(engines, (engine) => engine === engines.at(-1)),
    ...suite,
  )
}

/** What tests share on each engine, such as a service. */
export function forEngines<T>(make: (engine: Dialect) => T): Record<Dialect, T> {
  return { sqlite: make('sqlite'), postgres: make('postgres') }
}

/** For what only PostgreSQL has. `npm run test:fast` is about SQLite and leaves it out. */
export function onPostgres(title: string, run: (t: TestContext) => Promise<void>): void {
  if (engines.includes('postgres')) test(title, run)
}

/** A temporary folder, removed after the test. */
export function temporaryFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-'))
  // Tried again if something that is still running has just created a file there.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** The URL of an empty database, or of a migrated one, removed after the test. */
export async function createDatabaseUrl(
  t: Pick<TestContext, 'after'>,
  engine: Dialect,
  { isMigrated = false } = {},
): Promise<string> {
  const { url, drop } = await createTestDatabase(engine, { isMigrated })
  t.after(drop)
  return url
}

export function testServer(variable: 'TEST_DATABASE_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[variable]
  if (!url) throw new Error(`${variable} is not set: run the tests with "npm test", which starts the servers they need`)
  return url
}
