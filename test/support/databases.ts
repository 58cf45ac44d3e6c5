/** A fresh database for each test, on either engine. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext } from 'node:test'
import pg from 'pg'
import type { Dialect } from '../../src/platform/database/database.ts'

export const engines: readonly Dialect[] = process.env.TEST_ONLY_SQLITE ? ['sqlite'] : ['sqlite', 'postgres']

/** The same tests on every engine, so many at once. */
export function onEachEngine(title: string, tests: (engine: Dialect) => void, { concurrency = 1 } = {}): void {
  for (const engine of engines) describe(`${title}, on ${engine}`, { concurrency }, () => tests(engine))
}

/** A temporary folder that goes with the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The URL of an empty database that goes with the test. */
export async function createDatabaseUrl(t: TestContext, engine: Dialect): Promise<string> {
  if (engine === 'sqlite') return `file:${join(temporaryFolder(t), 'test.db')}`
  const server = testServer('TEST_DATABASE_URL')
  const name = `test_${randomBytes(8).toString('hex')}`
  await runOnServer(server, `CREATE DATABASE ${name}`)
  t.after(() => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export function testServer(variable: 'TEST_DATABASE_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[variable]
  if (!url) throw new Error(`${variable} is not set: run the tests with "npm test", which starts the servers they need`)
  return url
}

export async function runOnServer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
