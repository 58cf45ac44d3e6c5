import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClock } from '../../src/core/clock.ts'
import { createSignInStore } from '../../src/features/overview/sign-in-days.store.ts'
import { createSignInDays, shownDays } from '../../src/features/overview/sign-in-days.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'

const daySeconds = 86_400

async function open(t: TestContext, engine: Dialect) {
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  // Noon, so that no day ends by itself.
  let now = Date.parse('2026-03-01T12:00:00Z')
  const clock = createClock(() => now)
  const advance = (seconds: number) => (now += seconds * 1000)
  const add = (count: number, event: string, outcome: string) =>
    db.write(
      ...Array.from({ length: count }, () => ({
        sql: `INSERT INTO audit (at, event, outcome, address, user_agent) VALUES ($1, $2, $3, '', '')`,
        params: [clock.nowIso(), event, outcome],
      })),
    )
  const createDays = () => createSignInDays({ store: createSignInStore(db), clock })
  return { db, clock, advance, add, createDays }
}

onEachEngine('sign-ins by day', (engine) => {
  test('are the same before they are counted, after, and while two nodes count', async (t) => {
    const { db, advance, add, createDays } = await open(t, engine)
    await add(7, 'login', 'success')
    advance(40 * daySeconds)
    await add(3, 'login', 'success')
    await add(1, 'login', 'second_factor_required')
    await add(1, '2fa_verify', 'success')
    await add(5, 'refresh', 'success')
    advance(2 * daySeconds)
    await add(2, 'login', 'failure')
    await add(1, 'login', 'locked')
    await add(1, 'passkey_login', 'failure')
    await add(1100, 'refresh', 'success')

    const [one, other] = [createDays(), createDays()]
    const check = async (lastFailures: number) => {
      const { days, countedTo } = await one.read()
      assert.equal(days.length, shownDays)
      assert.equal(countedTo, undefined)
      assert.deepEqual(
        days
          .filter(({ signIns, failures }) => signIns + failures > 0)
          .map(({ signIns, failures }) => [signIns, failures]),
        [
          [4, 0],
          [0, lastFailures],
        ],
      )
      assert.equal(days.at(-1)?.failures, lastFailures)
    }
    await check(4)
    for (let i = 0; i < 2; i++) await Promise.all([one.countSettled(), other.countSettled()])
    const position = await db.get<{ audit_id: number }>('SELECT audit_id FROM sign_in_progress')
    assert.deepEqual(position, await db.get('SELECT MAX(id) AS audit_id FROM audit'))
    await check(4)

    await add(1, 'login', 'failure')
    await check(5)
    await one.countSettled()
    assert.deepEqual(await db.get('SELECT audit_id FROM sign_in_progress'), position, 'it may not be settled yet')
    await Promise.all([one.countSettled(), other.countSettled()])
    await check(5)

    advance(shownDays * daySeconds)
    await add(1, 'login', 'success')
    for (let i = 0; i < 2; i++) await one.countSettled()
    assert.deepEqual(await db.all('SELECT sign_ins, failures FROM sign_in_days'), [{ sign_ins: 1, failures: 0 }])
  })

  test('say up to when they are counted if there is much that is not counted yet', async (t) => {
    const { clock, advance, add, createDays } = await open(t, engine)
    await add(2000, 'login', 'success')
    const at = clock.nowIso()
    advance(1)
    await add(5, 'login', 'success')
    const days = createDays()
    const early = await days.read()
    assert.deepEqual([early.days.at(-1)?.signIns, early.countedTo], [2000, at])
    for (let i = 0; i < 2; i++) await days.countSettled()
    const late = await days.read()
    assert.deepEqual([late.days.at(-1)?.signIns, late.countedTo], [2005, undefined])
  })
})
