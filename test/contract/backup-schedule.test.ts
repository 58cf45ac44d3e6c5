/** When scheduled backups are made, by whom, and what is kept. */
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createBackupFiles } from '../../src/features/backup/backup-files.ts'
import { createBackupsStore } from '../../src/features/backup/backups.store.ts'
import { createSchedule, type MadeBackup } from '../../src/features/backup/schedule.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createMovableClock } from '../../src/testing/clock.ts'
import { createDatabaseUrl, onEachEngine, temporaryFolder } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'

const hour = 3600
const day = 24 * hour
const good: MadeBackup = { rows: 3, bytes: 5, leftOut: [] }

type Make = () => Promise<MadeBackup>

async function createNodes(t: TestContext, engine: Dialect) {
  const { db } = await openDatabase(openOptions({ url: await createDatabaseUrl(t, engine), migrations: ownMigrations }))
  t.after(() => db.close())
  const store = createBackupsStore(db)
  const clock = createMovableClock()
  const folder = temporaryFolder(t)
  const files = createBackupFiles(folder)
  const lines: string[] = []
  const log = createLogger({
    level: 'info',
    isTerminal: false,
    destination: { write: (line) => void lines.push(line) },
  })
  const add = (holder: string, result: Make = async () => good) =>
    createSchedule({
      store,
      files,
      clock,
      log,
      everySeconds: day,
      keep: 2,
      holder,
      async make(path) {
        const made = await result()
        writeFileSync(path, 'an archive')
        return made
      },
    })
  return { store, clock, folder, lines, add, list: () => readdirSync(folder).sort() }
}

onEachEngine('scheduled backups', (engine) => {
  test('are made at the start and whenever one is due, and the oldest is removed', async (t) => {
    const { store, clock, add, list } = await createNodes(t, engine)
    const node = add('a')
    assert.equal(await node.runIfDue(), true)
    assert.equal(await node.runIfDue(), false)
    const first = list()
    clock.advance(day - 60)
    assert.equal(await node.runIfDue(), false)
    for (let i = 0; i < 3; i++) {
      clock.advance(day)
      assert.equal(await node.runIfDue(), true)
    }
    assert.equal(list().length, 2)
    assert.equal(list().includes(first[0] as string), false)
    assert.equal((await store.findLastProved())?.started_at, (await store.findLastWritten())?.started_at)
    assert.equal((await store.list()).length, 4)
  })

  test('are made by one of several nodes', async (t) => {
    const { add, list } = await createNodes(t, engine)
    const nodes = ['a', 'b', 'c', 'd'].map((name) => add(name))
    const made = await Promise.all(nodes.map((node) => node.runIfDue()))
    assert.deepEqual(made.filter(Boolean), [true])
    assert.equal(list().length, 1)
  })

  test('that fail are logged as errors and tried again, and nothing is removed', async (t) => {
    const { store, clock, lines, add, list } = await createNodes(t, engine)
    const node = add('a')
    for (let i = 0; i < 2; i++) {
      await node.runIfDue()
      clock.advance(day)
    }
    const before = list()
    const failing = add('b', () => Promise.reject(new Error('no room')))
    assert.equal(await failing.runIfDue(), true)
    assert.deepEqual(list(), before)
    const failed = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error' || level === 50)
    assert.deepEqual(
      failed.map(({ err }) => err.message),
      ['no room'],
    )
    assert.equal((await store.list())[0]?.error, 'no room')
    assert.equal(await failing.runIfDue(), false)
    clock.advance(901)
    assert.equal(await node.runIfDue(), true, 'in a quarter of an hour, not in a day')
    clock.advance(901)
    assert.equal(await node.runIfDue(), false)
  })

  test('that cannot be proved are set aside, and do not push a good one out', async (t) => {
    const { store, clock, lines, add, list } = await createNodes(t, engine)
    await add('a').runIfDue()
    const [proved] = list()
    const bad = add('b', async () => ({ ...good, unproved: 'table users came out with other values' }))
    for (let i = 0; i < 3; i++) {
      clock.advance(day)
      assert.equal(await bad.runIfDue(), true)
    }
    assert.equal(list().length, 2)
    assert.equal(list()[0], proved)
    assert.match(list()[1] ?? '', /\.archive\.unproved$/)
    assert.equal((await store.findLastWritten())?.proved, false)
    assert.ok(((await store.findLastProved())?.started_at ?? 0) < ((await store.findLastWritten())?.started_at ?? 0))
    assert.equal(lines.filter((line) => line.includes('could not be proved')).length, 3)
    clock.advance(day)
    await add('a').runIfDue()
    assert.equal(list().filter((name) => name.endsWith('.unproved')).length, 0)
  })

  test('of a node that died are made by another two minutes later', async (t) => {
    const { clock, add, list } = await createNodes(t, engine)
    const began = Promise.withResolvers<void>()
    const end = Promise.withResolvers<MadeBackup>()
    const dying = add('a', () => {
      began.resolve()
      return end.promise
    }).runIfDue()
    await began.promise
    const other = add('b')
    assert.equal(await other.runIfDue(), false)
    clock.advance(121)
    assert.equal(await other.runIfDue(), true)
    assert.equal(list().length, 1)
    end.reject(new Error('late'))
    await dying
    clock.advance(hour)
    assert.equal(await other.runIfDue(), false, 'what the dead node said later does not count')
  })
})
