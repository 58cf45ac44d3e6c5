/** Sorted and filtered pages of a million audit entries, relative to the first page. */
import { systemClock } from '../src/core/clock.ts'
import { foldCounts } from '../src/platform/database/maintained-counts.ts'
import { addEntries, type GivenEntry } from '../test/support/audit-entries.ts'
import { measureAsAdministrator } from './support/administrator.ts'
import type { Benchmark, Result } from './support/benchmark.ts'
import { openDataset } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'

const path = '/api/admin/audit'
const entries = 1_000_000
const entriesPerWrite = 5000
const secondsBetween = 30
const start = systemClock.now() - entries * secondsBetween * 1000
const dayAgo = (days: number) => new Date(start + days * 86_400_000).toISOString()
/** Every tenth entry is of this user, and every third of this address, such as a proxy's. */
const busy = { user: 7, address: '198.51.100.1' } as const
/** 50 each. */
const rare = { event: 'roles_changed', outcome: 'reuse' } as const

const filters = [
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
  `filter[at][gte]=${dayAgo(100)}&filter[at][lt]=${dayAgo(101)}`,
  `filter[at][gte]=${dayAgo(100)}&filter[event]=login&filter[outcome]=failure`,
  `filter[user]=${busy.user}&filter[event]=logout&filter[address]=${busy.address}`,
  // None of them.
  `filter[outcome]=success&filter[event]=login&filter[actor]=${busy.user}&filter[address]=203.0.113.250`,
  `filter[event]=refresh&filter[user]=${busy.user}&filter[outcome]=failure&filter[address]=${busy.address}`,
] as const

export const auditOrders: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databaseUrl = await createDatabase()
  await fill(databaseUrl)
  return measureAsAdministrator(databaseUrl, { name, path, sorts: ['at'], filters })
}

async function fill(url: string): Promise<void> {
  const db = await openDataset(url)
  try {
    for (let first = 0; first < entries; first += entriesPerWrite) {
      const count = Math.min(entriesPerWrite, entries - first)
      await db.write(...addEntries(Array.from({ length: count }, (_, i) => entryAt(first + i))))
      process.stderr.write(`\r  filling ${first.toLocaleString('en')} of ${entries.toLocaleString('en')} entries `)
    }
    process.stderr.write('\r\u001b[K')
    await foldCounts(db)
    if (db.dialect === 'postgres') await db.write({ sql: 'VACUUM ANALYZE audit' })
  } finally {
    await db.close()
  }
}

function entryAt(i: number): GivenEntry {
  const isRare = i % Math.ceil(entries / 50) === 17
  const user = i % 10 === 0 ? busy.user : 100 + ((i * 7919) % 100_000)
  const isFailure = i % 11 === 3
  return {
    at: new Date(start + i * secondsBetween * 1000).toISOString(),
    event: isRare ? rare.event : i % 2 === 0 ? 'refresh' : i % 5 === 1 ? 'logout' : 'login',
    outcome: isRare ? rare.outcome : isFailure ? 'failure' : 'success',
    user_id: user,
    actor_id: isFailure ? null : user,
    address: i % 3 === 0 ? busy.address : `203.0.${(i * 31) % 100}.${(i * 17) % 250}`,
  }
}
