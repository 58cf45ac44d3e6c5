/** Rows of a collection are written only where the rules allow it, by the statement that writes them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { describeCollections } from '../../src/collections/declare/describe.ts'
import { belongsTo, choice, computed, day, integer, list, text } from '../../src/collections/declare/fields.ts'
import { after, all, any, can, me, not, row, through } from '../../src/collections/declare/rules.ts'
import type { RulePrincipal } from '../../src/collections/rules/values.ts'
import { createLogTriggers } from '../../src/collections/schema/change-log.ts'
import { createTables } from '../../src/collections/schema/tables.ts'
import { createStatements, type StoredValues, type WriteStatement } from '../../src/collections/store/statements.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'

const users = { name: 'users' } as never
const teams = {
  name: 'teams',
  fields: { name: text(), members: list(belongsTo(users)) },
  rules: { read: row.members.has(me), create: row.members.has(me) },
}
const tickets = {
  name: 'tickets',
  fields: {
    title: text(),
    status: choice(['open', 'closed']),
    priority: integer({ optional: true }),
    team: belongsTo(teams as never),
    author: belongsTo(users),
    due: day({ optional: true }),
    tags: list(text()),
    days: list(day()),
    length: computed(integer(), ({ title }) => title.length, { stored: true }),
  },
  rules: {
    read: any(row.author.is(me), through('team', 'read'), can('tickets.view')),
    create: all(
      row.author.is(me),
      through('team', 'read'),
      row.title.gte('A'),
      // Of what is not given, or is not there yet.
      row.due.isNull(),
      not(row.days.has('2026-01-31')),
      row.created_at.lt('2027-01-01'),
    ),
    update: any(
      all(row.author.is(me), row.status.isNot('closed'), after.team.is(row.team), after.priority.lte(3)),
      can('tickets.update'),
    ),
    delete: all(row.author.is(me), row.tags.has('mine')),
  },
}
const [teamsTable, ticketsTable] = describeCollections([teams, tickets], (target) =>
  target === users ? 'users' : (target as typeof teams),
)
const [early, now, later] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']

const user = (id: number | undefined, ...permissions: string[]): RulePrincipal => ({
  id,
  can: (permission) => permissions.includes(permission),
  hasRole: () => false,
})
const [ada, grace, chief, nobody] = [user(1), user(2), user(3, 'tickets.view', 'tickets.update'), user(undefined)]
const ticket = { title: 'Printer', status: 'open', priority: 3, team: 1, author: 1, tags: '["mine","b"]' }

interface Written {
  id: number
  title: string
  version: number
  priority: number | null
}

async function open(t: TestContext, engine: Dialect) {
  assert.ok(teamsTable && ticketsTable)
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  for (let id = 1; id <= 7; id++) {
    await db.write({
      sql: "INSERT INTO users (email, password_hash, created_at, updated_at) VALUES ($1, '', $2, $2)",
      params: [`user${id}@example.com`, early],
    })
  }
  for (const each of [teamsTable, ticketsTable]) {
    for (const sql of [...createTables(each, engine), ...createLogTriggers(each, engine)]) await db.write({ sql })
  }
  const of = { teams: createStatements(teamsTable, engine), tickets: createStatements(ticketsTable, engine) }
  async function write(statement: WriteStatement): Promise<Written | undefined> {
    if (!statement) return undefined
    const [[written]] = await db.write<Written>(statement)
    return written
  }
  const { insert, update, softDelete, restore, find } = of.tickets
  await write(of.teams.insert({ values: { name: 'Support', members: '[1,2]' } }, { principal: undefined, now: early }))
  await write(of.teams.insert({ values: { name: 'Sales', members: '[3]' } }, { principal: undefined, now: early }))
  return {
    db,
    write,
    teams: of.teams,
    create: (principal: RulePrincipal | undefined, values: StoredValues = {}) =>
      write(insert({ values: { ...ticket, ...values }, related: [] }, { principal, now: early })),
    update: (principal: RulePrincipal | undefined, values: StoredValues, version: number | null = null, id = 1) =>
      write(update({ id, version }, { values, related: [] }, { principal, now })),
    delete: (principal: RulePrincipal | undefined, version: number | null = null, id = 1) =>
      write(softDelete({ id, version }, { principal, now }, 'mark')),
    restore: (principal: RulePrincipal | undefined, since = early, id = 1) =>
      write(restore(id, since, { principal, now: later })),
    async find(principal: RulePrincipal | undefined, id = 1) {
      const statement = find(id, principal)
      return statement && db.get<Written>(statement.sql, statement.params as never)
    },
  }
}

onEachEngine('a row', (engine) => {
  test('is created where the rule holds for the new row', async (t) => {
    const { create, find, write, teams: of } = await open(t, engine)
    const made = await create(ada)
    assert.deepEqual([made?.id, made?.title, made?.version, made?.priority], [1, 'Printer', 1, 3])
    // Somebody else's, in a team of others, with a title that is not allowed, or by nobody.
    assert.equal(await create(grace), undefined)
    assert.equal(await create(ada, { team: 2 }), undefined)
    assert.equal(await create(ada, { team: 99 }), undefined)
    assert.equal(await create(ada, { title: '1st' }), undefined)
    assert.equal(await create(nobody), undefined)
    assert.equal(await create(ada, { days: '["2026-01-31"]' }), undefined)
    assert.equal(await create(ada, { due: '2026-01-31' }), undefined)
    assert.equal((await create(ada, { days: '["2026-01-30"]', length: 7, id: 500 }))?.id, 2)
    assert.equal((await create(undefined, { author: 7, team: 2 }))?.id, 3)
    assert.equal((await create(grace, { author: 2 }))?.title, 'Printer')
    // A team that is deleted grants nothing.
    await write(of.softDelete({ id: 1, version: null }, { principal: undefined, now }, 'mark'))
    assert.equal(await create(ada), undefined)
    assert.equal(await find(grace), undefined)
    await write(of.restore(1, early, { principal: undefined, now }))
    assert.equal((await find(grace))?.id, 1)
    // By the items of a list that is not stored yet.
    const team = (principal: RulePrincipal) =>
      write(of.insert({ values: { name: 'Own', members: '[2,5]' } }, { principal, now }))
    assert.ok(await team(grace))
    assert.equal(await team(ada), undefined)
    assert.deepEqual([(await find(grace))?.id, (await find(chief))?.id, await find(nobody)], [1, 1, undefined])
  })

  test('is changed where the rule holds before and after', async (t) => {
    const { create, update } = await open(t, engine)
    await create(ada)
    assert.equal((await update(ada, { title: 'Scanner' }))?.version, 2)
    // What an update leaves alone is as it is stored.
    assert.equal((await update(ada, { due: '2026-02-01' }))?.version, 3)
    assert.equal(await update(grace, { title: 'Mine' }), undefined)
    assert.equal(await update(ada, { priority: 4 }), undefined)
    assert.equal(await update(ada, { priority: null }), undefined)
    assert.equal(await update(ada, { team: 2 }), undefined)
    assert.equal(await update(user(3, 'tickets.update'), { priority: 5 }), undefined, 'may not read it')
    assert.equal((await update(chief, { team: 2, priority: 5 }))?.priority, 5)
    assert.equal(await update(ada, { title: 'Again' }), undefined, 'its priority is too high by now')
    assert.equal((await update(ada, { priority: 1, status: 'closed' }))?.priority, 1)
    assert.equal(await update(ada, { status: 'open' }), undefined)
    assert.equal((await update(undefined, { status: 'open' }))?.version, 6)
    assert.equal(await update(ada, { title: 'Late' }, 5), undefined)
    assert.equal((await update(ada, { title: 'Now' }, 6))?.title, 'Now')
    assert.equal(await update(undefined, { title: 'None' }, null, 99), undefined)
  })

  test('is deleted and restored by those who may, in that version and in time', async (t) => {
    const { create, update, delete: remove, restore, find } = await open(t, engine)
    await create(ada)
    await create(ada, { tags: '[]' })
    assert.equal(await remove(grace), undefined)
    assert.equal(await remove(ada, null, 2), undefined, 'its tags do not allow it')
    assert.equal(await remove(ada, 7), undefined)
    assert.equal((await remove(ada, 1))?.version, 2)
    assert.equal(await remove(ada), undefined)
    assert.equal(await find(ada), undefined)
    assert.equal(await update(undefined, { title: 'Gone' }), undefined)
    assert.equal(await restore(grace), undefined)
    assert.equal(await restore(ada, later), undefined)
    assert.equal((await restore(ada))?.version, 3)
    assert.equal(await restore(ada), undefined)
    assert.equal((await find(ada))?.title, 'Printer')
  })

  test('and others that are created at the same time each have their own values', async (t) => {
    const { create } = await open(t, engine)
    const titles = Array.from({ length: 40 }, (_, i) => `Title ${i}`)
    const made = await Promise.all(titles.map((title) => create(undefined, { title })))
    assert.deepEqual(
      made.map((each) => each?.title),
      titles,
    )
    assert.equal(new Set(made.map((each) => each?.id)).size, 40)
  })

  test('that is closed is not changed by any of fifty changes that were on their way', async (t) => {
    const { db, create, update } = await open(t, engine)
    await create(ada)
    const changes = Array.from({ length: 50 }, (_, i) =>
      i === 25 ? update(chief, { status: 'closed' }) : update(ada, { title: `Title ${i}` }),
    )
    const written = (await Promise.all(changes)).filter((each) => each !== undefined).length
    const entries = await db.all<{ data: string }>(
      "SELECT data FROM changes WHERE topic = 'tickets' AND type = 'ticket.updated' ORDER BY id",
    )
    const statuses = entries.map(({ data }) => JSON.parse(data).status)
    assert.equal(statuses.length, written)
    assert.equal(statuses.indexOf('closed'), statuses.length - 1)
    assert.equal(await update(ada, { title: 'Too late' }), undefined)
  })
})
