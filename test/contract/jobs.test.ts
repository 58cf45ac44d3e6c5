/** The scheduler of jobs, with a database that fails and nodes that disagree. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createJobStore, type JobStore } from '../../src/platform/jobs/jobs.store.ts'
import { type JobsOptions, readSchedule, startJobs } from '../../src/platform/jobs/jobs.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createMovableClock } from '../../src/testing/clock.ts'
import { createDatabaseUrl, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { testInFull } from '../support/test-in-full.ts'

const name = 'close-stale'
const log = createLogger({ level: 'silent', isTerminal: false })

async function open(t: TestContext, engine: Dialect) {
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  const store = createJobStore(db)
  const clock = createMovableClock()
  function start(
    run: (signal: AbortSignal) => unknown,
    changed: Partial<JobStore> = {},
    rest: Partial<JobsOptions> = {},
  ) {
    const schedule = readSchedule('test', name, { every: '1h', run: () => {} })
    const jobs = [{ name, schedule, run }]
    const running = startJobs({ jobs, store: { ...store, ...changed }, clock, log, holder: 'a node', ...rest })
    t.after(() => running.close())
    return running
  }
  const row = async () => (await store.list())[0]
  return { store, clock, start, row, isDue: () => eventually(async () => assert.ok(await row())) }
}

onRacingEngine('a job', (engine) => {
  test('that is done is not done again because its end could not be stored at once', async (t) => {
    const { store, clock, start, row, isDue } = await open(t, engine)
    let runs = 0
    let failures = 2
    start(() => (runs += 1), {
      async finish(...given) {
        if (failures-- > 0) throw new Error('the database is away')
        return store.finish(...given)
      },
    })
    await isDue()
    clock.advance(3601)
    await eventually(async () => assert.ok(((await row())?.succeeded_at ?? 0) > 0))
    assert.equal(runs, 1)
  })

  testInFull('whatever it throws, has failed', async (t) => {
    const { clock, start, row, isDue } = await open(t, engine)
    const thrown = [Object.create(null), `a\0b \ud800 ${'long '.repeat(1000)}`, undefined, new Error('a\0b')]
    start(() => {
      throw thrown.shift()
    })
    await isDue()
    for (const expected of [/no error/, /^ab/, /without an error/, /^ab$/]) {
      const before = (await row())?.failures ?? 0
      clock.advance(3601)
      await eventually(async () => {
        const found = await row()
        assert.equal(found?.failures, before + 1)
        assert.match(found?.error ?? '', expected)
        assert.ok((found?.error ?? '').length <= 2000)
      })
    }
  })

  test('is told to stop when its lease could not be renewed, even if the database does not respond', async (t) => {
    const { clock, start, isDue } = await open(t, engine)
    const stopped = Promise.withResolvers<void>()
    const run = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => stopped.resolve())
      return stopped.promise
    }
    const leaseTimes = { seconds: 60, renewEveryMs: 20, validMs: 100 }
    start(run, { renew: () => new Promise(() => {}) }, { leaseTimes })
    await isDue()
    clock.advance(3601)
    await stopped.promise
  })

  test('is put off by no node whose schedule differs', async (t) => {
    const { store } = await open(t, engine)
    const register = (schedule: string, due_at: number) =>
      store.register([{ name, schedule, due_at }], { expiresAt: 1_000_000 })
    await register('every 3h', 10_800)
    await register('every 2h', 7200)
    await register('every 3h', 11_800)
    await store.register([{ name, schedule: 'every 2h', due_at: 6000 }], { expiresAt: 2_000_000, keepsSchedules: true })
    const [row] = await store.list()
    assert.deepEqual([row?.due_at, row?.schedule], [7200, 'every 3h'])
  })
})
