/** Sorted and filtered pages of a million audit entries, relative to the first page. */
import { systemClock } from '../src/core/clock.ts'
import { asAdministrator } from './support/administrator.ts'
import type { Benchmark, Result } from './support/benchmark.ts'
import { fillWithoutIndexes, insertNumbered } from './support/bulk-fill.ts'
import { openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type LongList, measureSortedPages } from './support/sorted-pages.ts'

const entries = 1_000_000
const secondsBetween = 30
const startSeconds = systemClock.nowSeconds() - entries * secondsBetween
const dayAfterStart = (days: number) => new Date((startSeconds + days * 86_400) * 1000).toISOString()
/** Every tenth entry is of this user, and every third of this address, such as a proxy's. */
const busy = { user: 7, address: '198.51.100.1' } as const
/** 50 each. */
const rare = { event: 'roles_changed', outcome: 'reuse' } as const

const list: LongList = {
  rest: '/api/admin/audit',
  console: '/console/audit',
  rows: entries,
  sorts: { at: new Date((startSeconds + (entries / 2) * secondsBetween) * 1000).toISOString() },
  filters: [
    '',
    'filter[event]=refresh',
    `filter[event]=${rare.event}`,
    'filter[outcome]=success',
    'filter[outcome]=failure',
    `filter[outcome]=${rare.outcome}`,
    `filter[user]=${busy.user}`,
    'filter[user]=50021',
    `filter[actor]=${busy.user}`,
    `filter[address]=${busy.address}`,
    'filter[address]=203.0.7.9',
    `filter[at][gte]=${dayAfterStart(100)}&filter[at][lt]=${dayAfterStart(101)}`,
    `filter[at][gte]=${dayAfterStart(100)}&filter[event]=login&filter[outcome]=failure`,
    `filter[user]=${busy.user}&filter[event]=logout&filter[address]=${busy.address}`,
    // None of them.
    `filter[outcome]=success&filter[event]=login&filter[actor]=${busy.user}&filter[address]=203.0.113.250`,
    `filter[event]=refresh&filter[user]=${busy.user}&filter[outcome]=failure&filter[address]=${busy.address}`,
  ],
  others: {},
  refused: [
    '/api/admin/audit?sort=event',
    '/api/admin/audit?filter[user_agent]=curl',
    '/api/admin/audit?sort=at&page=200',
    '/api/admin/audit?sort=at&filter[event]=login&page=30',
    '/console/audit?sort=event',
  ],
}

export const auditOrders: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databaseUrl = await createDatabase()
  await fill(databaseUrl)
  return asAdministrator(databaseUrl, (administrator) => measureSortedPages(name, list, administrator))
}

const isRare = `i % ${entries / 50} = 17`
const isFailure = 'i % 11 = 3'
const user = `CASE WHEN i % 10 = 0 THEN ${busy.user} ELSE 100 + (i * 7919) % 100000 END`
const seconds = `${startSeconds} + i * ${secondsBetween}`
const columns = {
  event: `CASE WHEN ${isRare} THEN '${rare.event}' WHEN i % 2 = 0 THEN 'refresh' WHEN i % 5 = 1 THEN 'logout' ELSE 'login' END`,
  outcome: `CASE WHEN ${isRare} THEN '${rare.outcome}' WHEN ${isFailure} THEN 'failure' ELSE 'success' END`,
  user_id: user,
  actor_id: `CASE WHEN ${isFailure} THEN NULL ELSE ${user} END`,
  address: `CASE WHEN i % 3 = 0 THEN '${busy.address}' ELSE '203.0.' || ((i * 31) % 100) || '.' || ((i * 17) % 250) END`,
  user_agent: `'curl/8.14.1'`,
}

async function fill(url: string): Promise<void> {
  const db = await openDataset(url)
  const at =
    db.dialect === 'sqlite' ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch')` : `to_timestamp(${seconds})`
  const all = { ...columns, at }
  try {
    await fillWithoutIndexes(db, 'audit', () =>
      insertNumbered(db, {
        table: 'audit',
        columns: Object.keys(all),
        select: Object.values(all).join(),
        count: entries,
      }),
    )
  } finally {
    await db.close()
  }
}
