/** Sorted and filtered pages of a million users, relative to the first page. */
import { systemClock } from '../src/core/clock.ts'
import { foldCounts } from '../src/platform/database/maintained-counts.ts'
import { measureAsAdministrator } from './support/administrator.ts'
import type { Benchmark, Result } from './support/benchmark.ts'
import { openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'

const path = '/api/admin/users'
const users = 1_000_000
const usersPerStatement = 500
const statementsPerWrite = 10

const filters = [
  '',
  'filter[status]=active',
  // One in a thousand.
  'filter[status]=disabled',
  'filter[status]=locked',
  'filter[status]=invited',
  // Every tenth user holds a role.
  'filter[role]=viewer',
  'filter[role]=editor',
  'filter[role]=none',
  'filter[two_factor]=true',
  'filter[two_factor]=false',
  'filter[role]=viewer&filter[status]=disabled&filter[two_factor]=false',
  'filter[role]=editor&filter[status]=invited',
] as const

export const userOrders: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databaseUrl = await createDatabase()
  await fill(databaseUrl)
  return measureAsAdministrator(databaseUrl, { name, path, sorts: ['created_at', 'email', 'name'], filters })
}

async function fill(url: string): Promise<void> {
  const db = await openDataset(url)
  const now = systemClock.nowIso()
  const columns = ['email', 'name', 'name_key', 'password_hash', 'roles', 'disabled_at', 'created_at', 'updated_at']
  const rows = Array.from(
    { length: usersPerStatement },
    (_, row) => `(${columns.map((_, i) => `$${row * columns.length + i + 1}`).join()})`,
  )
  const sql = `INSERT INTO users (${columns.join()}) VALUES ${rows.join()}`
  try {
    for (let first = 0; first < users; first += usersPerStatement * statementsPerWrite) {
      const statements = Array.from({ length: statementsPerWrite }, (_, i) => ({
        sql,
        params: Array.from({ length: usersPerStatement }, (_, j) =>
          userAt(first + i * usersPerStatement + j, now),
        ).flat(),
      }))
      await db.write(...statements)
      process.stderr.write(`\r  filling ${first.toLocaleString('en')} of ${users.toLocaleString('en')} users `)
    }
    process.stderr.write('\r\u001b[K')
    await foldCounts(db)
    if (db.dialect === 'postgres') await db.write({ sql: 'VACUUM ANALYZE users' })
  } finally {
    await db.close()
  }
}

function userAt(i: number, now: string): (string | null)[] {
  const name = `Person ${(i * 7919) % 5000}`
  const roles = i % 10 === 3 ? '["viewer"]' : i % 5000 === 7 ? '["editor"]' : '[]'
  const isInvited = i % 2000 === 11
  return [
    `user${(i * 7919) % users}-${i}@example.com`,
    name,
    name.toLowerCase(),
    isInvited ? '' : 'x',
    roles,
    i % 1000 === 5 ? now : null,
    now,
    now,
  ]
}
