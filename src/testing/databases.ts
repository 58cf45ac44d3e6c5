/** Temporary databases: a SQLite file, or a new database on the PostgreSQL server in TEST_DATABASE_URL. */
import { mkdtempSync, rmSync } from 'node:fs'
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

/** How many threads serve. */
export const testThreads = Number(process.env.THREADS ?? 1)

export async function createTestDatabase(engine: Dialect): Promise<TestDatabase> {
  return engine === 'sqlite' ? createFile() : createOnServer()
}

function createFile(): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-test-'))
  return {
    url: `file:${join(folder, 'test.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function createOnServer(): Promise<TestDatabase> {
  const server = process.env.TEST_DATABASE_URL
  if (!server) {
    throw new Error('TEST_DATABASE_URL is not set: it names a PostgreSQL server on which databases may be made')
  }
  const name = `test_${systemRandom.bytes(8).toString('hex')}`
  await runOnServer(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
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
