/** Temporary databases: a SQLite file, or a new database on the PostgreSQL server in TEST_DATABASE_URL. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemRandom } from '../core/random.ts'
import type { Dialect } from '../platform/database/database.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** Both engines, or only SQLite if TEST_ONLY_SQLITE is set. */
export const engines: readonly Dialect[] = process.env.TEST_ONLY_SQLITE ? ['sqlite'] : ['sqlite', 'postgres']

/** How many threads serve: TEST_THREADS is what the test run chose for a part of the tests. */
export function testThreads(): number {
  return Number(process.env.THREADS ?? process.env.TEST_THREADS ?? 1)
}

/** Migrated databases to copy, because migrating takes longer than most tests. See test/support/templates.ts. */
const templates = {
  sqlite: process.env.TEST_TEMPLATE_FILE,
  postgres: process.env.TEST_TEMPLATE_DATABASE,
}

/** Empty, or with the tables of the service if `isMigrated` is set and the test run has prepared a template. */
export async function createTestDatabase(engine: Dialect, { isMigrated = false } = {}): Promise<TestDatabase> {
  const template = isMigrated ? templates[engine] : undefined
  return engine === 'sqlite' ? createFile(template) : createOnServer(template)
}

function createFile(template: string | undefined): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-test-'))
  if (template !== undefined) copyFileSync(template, join(folder, 'test.db'))
  return {
    url: `file:${join(folder, 'test.db')}`,
    // Tried again if a thread of a database that is still open has just created a file there.
    drop: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }),
  }
}

async function createOnServer(template = 'template1'): Promise<TestDatabase> {
  const server = process.env.TEST_DATABASE_URL
  if (!server) {
    throw new Error('TEST_DATABASE_URL is not set: it names a PostgreSQL server on which databases may be made')
  }
  const name = `test_${systemRandom.bytes(8).toString('hex')}`
  await runOnServer(server, async (client) => {
    const { rows } = await client.query('SHOW server_version_num')
    // The other strategy writes the whole database to the log. Before version 15 this was the only one.
    const strategy = Number(rows[0]?.server_version_num) >= 150_000 ? 'STRATEGY FILE_COPY' : ''
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`)
  })
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

export async function runOnServer(
  server: string,
  work: string | ((client: pg.Client) => Promise<void>),
): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await (typeof work === 'string' ? client.query(work) : work(client))
  } finally {
    await client.end()
  }
}
