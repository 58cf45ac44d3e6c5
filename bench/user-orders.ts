/** Sorted, filtered and searched pages of a million users, relative to the first page. */
import { systemClock } from '../src/core/clock.ts'
import type { Database } from '../src/platform/database/database.ts'
import { asAdministrator } from './support/administrator.ts'
import type { Benchmark, Result } from './support/benchmark.ts'
import { fillWithoutIndexes, insertNumbered, settle } from './support/bulk-fill.ts'
import { openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type LongList, measureSortedPages } from './support/sorted-pages.ts'

const users = 1_000_000

const list: LongList = {
  rest: '/api/admin/users',
  console: '/console/users',
  rows: users,
  sorts: { created_at: 500_000, email: 'user500000', name: 'person 2500' },
  filters: [
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
    // Every twentieth.
    'filter[two_factor]=true',
    'filter[two_factor]=false',
    'filter[role]=viewer&filter[status]=disabled&filter[two_factor]=false',
    'filter[role]=editor&filter[status]=invited',
    'filter[role]=editor&filter[status]=active&filter[two_factor]=true',
  ],
  others: {
    'the search over everything': ['user500', 'person%202500', 'person', 'example.com', 'found%20nowhere', 'e'].map(
      (q) => `/console/search?q=${q}`,
    ),
  },
  refused: [
    '/api/admin/users?q=person&sort=email',
    '/api/admin/users?filter[email]=user5@example.com',
    '/api/admin/users?sort=email&page=200',
    '/api/admin/users?sort=email&filter[status]=active&page=30',
    '/console/users?q=person&sort=email',
  ],
}

export const userOrders: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databaseUrl = await createDatabase()
  await fill(databaseUrl)
  return asAdministrator(databaseUrl, (administrator) => measureSortedPages(name, list, administrator))
}

const email = (i: string) => `'user' || ((${i} * 7919) % ${users}) || '-' || ${i} || '@example.com'`
const columns = {
  email: email('i'),
  name: `'Person ' || ((i * 7919) % 5000)`,
  name_key: `'person ' || ((i * 7919) % 5000)`,
  password_hash: `CASE WHEN i % 2000 = 11 THEN '' ELSE 'x' END`,
  roles: `CASE WHEN i % 10 = 3 THEN '["viewer"]' WHEN i % 5000 = 7 THEN '["editor"]' ELSE '[]' END`,
}

async function fill(url: string): Promise<void> {
  const db = await openDataset(url)
  const time = `CAST('${systemClock.nowIso()}' AS ${db.dialect === 'sqlite' ? 'TEXT' : 'TIMESTAMPTZ'})`
  const all = {
    ...columns,
    disabled_at: `CASE WHEN i % 1000 = 5 THEN ${time} END`,
    created_at: time,
    updated_at: time,
  }
  try {
    await fillWithoutIndexes(db, 'users', () =>
      insertNumbered(db, {
        table: 'users',
        columns: Object.keys(all),
        select: Object.values(all).join(),
        count: users,
      }),
    )
    await addStates(db)
  } finally {
    await db.close()
  }
}

/** Every twentieth user has a second factor, and every thousandth is locked out. */
async function addStates(db: Database): Promise<void> {
  const tomorrow = systemClock.nowSeconds() + 86_400
  await insertNumbered(db, {
    table: 'two_factor',
    columns: ['user_id', 'secret', 'enabled', 'set_up_at'],
    select: `i * 20 + 1, 'x', TRUE, ${tomorrow}`,
    count: users / 20,
  })
  await insertNumbered(db, {
    table: 'login_attempts',
    columns: ['email', 'failures', 'last_failure_at', 'locked_until', 'expires_at'],
    select: `${email('(i * 1000)')}, 5, ${tomorrow}, ${tomorrow}, ${tomorrow}`,
    count: users / 1000,
  })
  for (const table of ['two_factor', 'login_attempts']) await settle(db, table)
}
