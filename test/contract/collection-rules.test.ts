/** A rule means the same in SQL, on both engines, and as a predicate. */
import assert from 'node:assert/strict'
import { after as afterAll, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Described, describeCollections } from '../../src/collections/declare/describe.ts'
import {
  belongsTo,
  boolean,
  choice,
  day,
  decimal,
  integer,
  list,
  text,
  time,
} from '../../src/collections/declare/fields.ts'
import {
  after,
  all,
  any,
  can,
  everybody,
  me,
  never,
  not,
  type Rule,
  role,
  row,
  signedIn,
  through,
} from '../../src/collections/declare/rules.ts'
import { findByRule, writeAllowed, writeFound } from '../../src/collections/rules/finders.ts'
import { isAllowed, type StoredRow } from '../../src/collections/rules/predicate.ts'
import { describeRule } from '../../src/collections/rules/sentence.ts'
import { writeRule } from '../../src/collections/rules/sql.ts'
import type { RulePrincipal } from '../../src/collections/rules/values.ts'
import { createTables } from '../../src/collections/schema/tables.ts'
import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import type { Database, Value } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { Params } from '../../src/platform/listing/list-params.ts'
import { createTestDatabase, engines, runOnServer, type TestDatabase } from '../../src/testing/databases.ts'
import { testServer } from '../support/databases.ts'
import { openOptions } from '../support/migrations.ts'
import { amount } from '../support/tiers.ts'

const users = { name: 'users' }
const teams = {
  name: 'teams',
  fields: {
    name: text(),
    size: integer({ optional: true }),
    owner: belongsTo(users as never, { optional: true }),
    members: list(belongsTo(users as never)),
  },
  rules: {
    read: any(row.owner.is(me), row.members.has(me)),
    update: any(all(row.size.gt(1), not(row.owner.is(me))), row.owner.name.is('Ada'), not(after.size.gt(0))),
  },
  filter: ['name', 'size'],
}
const tickets = {
  name: 'tickets',
  fields: {
    title: text({ optional: true }),
    status: choice(['open', 'pending', 'closed']),
    priority: integer({ optional: true }),
    cost: decimal({ scale: 2, optional: true }),
    urgent: boolean({ optional: true }),
    due: day({ optional: true }),
    seen: time({ optional: true }),
    team: belongsTo(teams as never, { optional: true }),
    author: belongsTo(users as never, { optional: true }),
    tags: list(text()),
    levels: list(integer()),
    watchers: list(belongsTo(users as never)),
  },
  filter: ['title', 'status', 'priority', 'cost', 'urgent', 'due', 'seen'],
}
const described = describeCollections([teams, tickets], (target) =>
  target === users ? 'users' : (target as typeof teams),
)
const [teamsTable, ticketsTable] = described as [Described, Described]

/** Few values of each kind, so that many are equal. */
const ids = [1, 2, 3]
const texts = ['', 'a', 'B', 'é', '～', '😀', 'open']
const days = ['2025-12-31', '2026-01-01', '2026-01-02']
const times = ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T12:00:00.000Z']
/** As binary fractions, hundred times 0.29 is less than 29. */
const costs = [0, 0.1, 0.29, 9.5, 10.01]
const numbers = [-1, 0, 1, 2]
const statuses = ['open', 'pending', 'closed']

/** The values that a field has in the rows, with those of rules. */
const fieldsOfKind = {
  text: { paths: ['title', 'team.name'], values: texts },
  choice: { paths: ['status'], values: statuses },
  number: { paths: ['priority', 'team.size'], values: numbers },
  decimal: { paths: ['cost'], values: costs },
  boolean: { paths: ['urgent'], values: [true, false] },
  day: { paths: ['due'], values: days },
  time: { paths: ['seen'], values: times },
  name: { paths: ['author.name', 'author.email'], values: ['Ada', 'Grace', 'Ada@example.com'] },
  user: { paths: ['author', 'team.owner'], values: [...ids, me] },
  team: { paths: ['team'], values: ids },
}
type FieldKind = keyof typeof fieldsOfKind
const lists = [
  { path: 'tags', values: texts },
  { path: 'levels', values: numbers },
  { path: 'watchers', values: [...ids, me] },
  { path: 'team.members', values: [...ids, me] },
]
const operators = ['is', 'isNot', 'lt', 'lte', 'gt', 'gte'] as const

const at = (path: string) => path.split('.').reduce((field, name) => field[name], row)
const comparedTo = (kind: FieldKind) => {
  const { paths, values } = fieldsOfKind[kind]
  const others = kind === 'day' || kind === 'time' ? ['due', 'seen'] : paths
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<unknown>(...values) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constantFrom(...others).map(at) },
  )
}

const comparison: fc.Arbitrary<Rule> = fc
  .constantFrom(...(Object.keys(fieldsOfKind) as FieldKind[]))
  .chain((kind) =>
    fc
      .tuple(fc.constantFrom(...fieldsOfKind[kind].paths), fc.constantFrom(...operators), comparedTo(kind))
      .map(([path, operator, value]): Rule => at(path)[operator](value)),
  )
const inValues: fc.Arbitrary<Rule> = fc
  .constantFrom<FieldKind>('text', 'choice', 'number', 'decimal', 'time')
  .chain((kind) => {
    const { paths, values } = fieldsOfKind[kind]
    return fc
      .tuple(fc.constantFrom(...paths), fc.subarray<unknown>([...values]))
      .map(([path, some]): Rule => at(path).in(some))
  })
const isNull = fc
  .constantFrom(...Object.values(fieldsOfKind).flatMap(({ paths }) => paths))
  .map((path): Rule => at(path).isNull())
const has = fc
  .constantFrom(...lists)
  .chain(({ path, values }) => fc.constantFrom<unknown>(...values, null).map((value): Rule => at(path).has(value)))
const ofPrincipal = fc.constantFrom<Rule>(everybody, signedIn, never, can('tickets.view'), can('none'), role('agent'))
const throughTeam = fc.constantFrom<Rule>(through('team', 'read'), through('team', 'update'), through('team', 'delete'))

const { rule: anyRule } = fc.letrec<{ rule: Rule; leaf: Rule; branch: Rule }>((tie) => ({
  leaf: fc.oneof(
    { weight: 8, arbitrary: comparison },
    { weight: 3, arbitrary: has },
    { weight: 2, arbitrary: inValues },
    { weight: 2, arbitrary: isNull },
    { weight: 2, arbitrary: throughTeam },
    { weight: 2, arbitrary: ofPrincipal },
  ),
  branch: fc.oneof(
    fc.array(tie('rule'), { maxLength: 3 }).map((rules) => all(...rules)),
    fc.array(tie('rule'), { maxLength: 3 }).map((rules) => any(...rules)),
    tie('rule').map(not),
  ),
  rule: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('branch')),
}))

const principalOf = (id: number | undefined, permissions: string[], roles: string[]): RulePrincipal => ({
  id,
  can: (permission) => permissions.includes(permission),
  hasRole: (name) => roles.includes(name),
})
const principals = [
  principalOf(undefined, [], []),
  principalOf(1, [], []),
  principalOf(2, ['tickets.view'], []),
  principalOf(3, [], ['agent']),
  principalOf(99, [], []),
]

const optional = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: null })
const someTeam = fc.record({
  name: fc.constantFrom(...texts),
  size: optional(numbers),
  owner: optional(ids),
  members: fc.subarray(ids),
})
const someTicket = fc.record({
  title: optional(texts),
  status: fc.constantFrom(...statuses),
  priority: optional(numbers),
  cost: optional(costs.map((cost) => Math.round(cost * 100))),
  urgent: optional([true, false]),
  due: optional(days),
  seen: optional(times),
  team: optional([...ids, 77]),
  author: optional(ids),
  tags: fc.array(fc.constantFrom(...texts), { maxLength: 3 }),
  levels: fc.array(fc.constantFrom(...numbers), { maxLength: 3 }),
  watchers: fc.subarray(ids),
})

const seed = 20_261_119
const [teamRows = []] = fc.sample(fc.array(someTeam, { minLength: 3, maxLength: 3 }), { numRuns: 1, seed })
const [ticketRows = []] = fc.sample(fc.array(someTicket, { minLength: 200, maxLength: 200 }), { numRuns: 1, seed })
const stored = (rows: readonly object[]): StoredRow[] => rows.map((each, i) => ({ id: i + 1, ...each }))
/** One of them is deleted, and grants nothing. */
const deletedTeam = 2
const storedTeams = stored(teamRows)
const storedTickets = stored(ticketRows)
const storedUsers = ['Ada', 'Grace', 'Linus'].map((name, i) => ({ id: i + 1, name, email: `${name}@example.com` }))

/** A database whose own order of texts is not that of code points. */
async function createEnglishDatabase(): Promise<TestDatabase> {
  const server = testServer('TEST_DATABASE_URL')
  const name = `test_${systemRandom.bytes(8).toString('hex')}`
  await runOnServer(server, `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

const databases: { db: Database; made: TestDatabase }[] = []

const now = systemClock.nowIso()

async function fill(
  db: Database,
  table: string,
  rows: readonly StoredRow[],
  rest: StoredRow = { created_at: now, updated_at: now },
): Promise<void> {
  for (const row of rows) {
    const { id, ...values } = row
    // The database assigns the same ids in the same order.
    const each = { ...(table === 'users' ? row : values), ...rest }
    const columns = Object.keys(each)
    const params = Object.values(each).map((value) => (Array.isArray(value) ? JSON.stringify(value) : value)) as Value[]
    await db.write({
      sql: `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')})
            VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})`,
      params,
    })
  }
}

function findRelated({ name }: Described, id: number): StoredRow | undefined {
  if (name === 'users') return storedUsers.find((each) => each.id === id)
  return storedTeams.find((each) => each.id === id && id !== deletedTeam)
}

/** What indexes find for the rule are all rows that it allows, and only these if the finder says so. */
async function requireFound(db: Database, rule: Rule, principal: RulePrincipal, expected: readonly unknown[]) {
  const { dialect } = db
  const finder = findByRule(rule, ticketsTable, { dialect, principal })
  if (!finder) return
  found += 1
  const read = async (write: (params: Params) => string) => {
    const params = new Params()
    const rows = await db.all<{ id: number }>(`SELECT id FROM (${write(params)}) AS found ORDER BY id`, params.values)
    return rows.map(({ id }) => id)
  }
  const message = `${dialect}, user ${principal.id}: ${describeRule(rule)}`
  const most = storedTickets.length
  const all = await read((params) => writeFound(finder, { dialect, params, most }))
  if (finder.isExact) assert.deepEqual(all, expected, message)
  else {
    const allowed = await read((params) => {
      const condition = writeRule(rule, ticketsTable, { dialect, principal, params, alias: 'target' })
      if (typeof condition === 'boolean') return `SELECT id FROM tickets WHERE ${condition}`
      return writeAllowed(finder, { rule: condition, of: ticketsTable }, { dialect, params, most })
    })
    assert.deepEqual(allowed, expected, message)
    const missing = expected.filter((id) => !all.includes(id as number))
    assert.deepEqual(missing, [], message)
  }
}

let found = 0

/** Returns how many rows the rule allows. */
async function requireSame(rule: Rule, principal: RulePrincipal): Promise<number> {
  const expected = storedTickets
    .filter((each) => isAllowed(rule, ticketsTable, principal, { row: each, findRelated }))
    .map(({ id }) => id)
  for (const { db } of databases) {
    const params = new Params()
    const { dialect } = db
    const condition = writeRule(rule, ticketsTable, { dialect, principal, params, alias: 'tickets' })
    const where = typeof condition === 'boolean' ? (condition ? 'TRUE' : 'FALSE') : condition
    const rows = await db.all<{ id: number }>(`SELECT id FROM tickets WHERE ${where} ORDER BY id`, params.values)
    const found = rows.map(({ id }) => id)
    assert.deepEqual(found, expected, `${dialect}, user ${principal.id}: ${describeRule(rule)}\n${where}`)
    await requireFound(db, rule, principal, expected)
  }
  return expected.length
}

describe('a rule', () => {
  before(async () => {
    for (const engine of engines) {
      const made = await (engine === 'sqlite' ? createTestDatabase(engine) : createEnglishDatabase())
      const { db } = await openDatabase(openOptions({ url: made.url, migrations: [] }))
      databases.push({ db, made })
      // Among the authors are users that are not there, which a table would refuse.
      for (const sql of [teamsTable, ticketsTable].flatMap((each) => createTables(each, engine)))
        await db.write({ sql: sql.replaceAll(' REFERENCES users (id)', '') })
      await db.write({ sql: 'CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)' })
      await fill(db, 'users', storedUsers, {})
      await fill(db, 'teams', storedTeams)
      await db.write({ sql: 'UPDATE teams SET deleted_at = $1 WHERE id = $2', params: [now, deletedTeam] })
      await fill(db, 'tickets', storedTickets)
    }
  })
  afterAll(async () => {
    for (const { db, made } of databases) {
      await db.close()
      await made.drop()
    }
  })

  test('with a single comparison allows the same rows everywhere, whatever is compared', async () => {
    const [, , principal] = principals as [unknown, unknown, RulePrincipal]
    for (const { paths, values } of Object.values(fieldsOfKind)) {
      for (const path of paths) {
        const others = ['due', 'seen'].includes(path) ? ['due', 'seen'] : []
        for (const value of [...values, null, ...others.map(at)]) {
          for (const operator of operators) await requireSame(at(path)[operator](value), principal)
          await requireSame(not(at(path).is(value)), principal)
        }
        await requireSame(at(path).isNull(), principal)
      }
    }
    for (const { path, values } of lists) {
      for (const value of [...values, null]) await requireSame(at(path).has(value), principal)
    }
    const ofPrincipals = [
      ...(['read', 'update', 'delete'] as const).map((action) => through('team', action)),
      ...[row.author.is(me), row.author.isNot(me), row.watchers.has(me)].flatMap((rule) => [rule, not(rule)]),
    ]
    for (const rule of ofPrincipals) {
      for (const each of principals) await requireSame(rule, each)
    }
    const exact = storedTickets.filter(({ cost }) => cost === 29).length
    assert.ok(exact > 0)
    assert.equal(await requireSame(row.cost.is(0.29), principal), exact)
  })

  test('allows the same rows on SQLite, on PostgreSQL and as a predicate: 100,000 of rule, row and principal', async () => {
    let combinations = 0
    let allowed = 0
    await fc.assert(
      fc.asyncProperty(anyRule, async (rule) => {
        for (const principal of principals) {
          const expected = await requireSame(rule, principal)
          combinations += storedTickets.length
          allowed += expected
        }
      }),
      { numRuns: amount({ full: 2000, otherwise: 110 }), seed, endOnFailure: false },
    )
    assert.ok(combinations >= 100_000, String(combinations))
    // Neither all of them nor none.
    assert.ok(found > 100, `${found} by indexes`)
    assert.ok(allowed > combinations / 10 && allowed < (combinations * 9) / 10, `${allowed} of ${combinations}`)
  })
})
