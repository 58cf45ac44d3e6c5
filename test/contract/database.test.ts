/** The contract of both database engines. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { AppError } from '../../src/core/app-error.ts'
import { ConstraintError, type Dialect, rowOf } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { share } from '../support/api.ts'
import { createDatabaseUrl, engines, onEachEngine, temporaryFolder, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, writeMigrations } from '../support/migrations.ts'
import { connectionOf, countOwners, insertOwner, open, ownersIn, schema } from '../support/owners-schema.ts'
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { startProxy } from '../support/proxy.ts'
import { isFull } from '../support/tiers.ts'

const insertThing = 'INSERT INTO things (owner_id, label) VALUES ($1, $2) RETURNING id, owner_id, label'

type Open = typeof open

/** Counts how often the event loop turns until the result is called. */
function countTurns(): () => number {
  let turns = 0
  let isCounting = true
  const turn = () => {
    turns += 1
    if (isCounting) setImmediate(turn)
  }
  turn()
  return () => {
    isCounting = false
    return turns
  }
}

/** What both engines promise, whatever is between the service and the server. */
function contract(engine: Dialect, open: Open): void {
  test('returns one row, no row, and many rows in order', async (t) => {
    const db = await open(t, engine)
    for (const name of ['b', 'a', 'c']) await db.write({ sql: insertOwner, params: [name] })
    assert.deepEqual(await db.get('SELECT name FROM owners WHERE name = $1', ['a']), { name: 'a' })
    assert.equal(await db.get('SELECT name FROM owners WHERE name = $1', ['zz']), undefined)
    assert.deepEqual(await db.all('SELECT name FROM owners WHERE name < $1 ORDER BY name', ['d']), [
      { name: 'a' },
      { name: 'b' },
      { name: 'c' },
    ])
  })

  test('reads of one turn each get their own row, whatever they have in common', async (t) => {
    const db = await open(t, engine)
    const names = Array.from({ length: 250 }, (_, i) => `n${i}, "quoted", {1,2} \\ 'x' é`)
    for (const name of names) await db.write({ sql: insertOwner, params: [name] })
    const byName = "SELECT id, name, '$1' AS literal, name = $1 AS same FROM owners WHERE name = $1 -- not $2"
    const byIdAndName = 'SELECT name FROM owners WHERE id > $1 AND name = $2'
    const several = 'SELECT name FROM owners WHERE id > $1 ORDER BY id DESC'
    // The first round finds out how, the second shares.
    for (let round = 0; round < 3; round++) {
      const found = await Promise.all([
        ...names.map((name) => db.get<{ name: string }>(byName, [name])),
        ...names.map((name, i) => db.get<{ name: string }>(byIdAndName, [i % 2 === 0 ? -1 : 100_000, name])),
        ...names.map(() => db.get<{ name: string }>(several, [0])),
        db.get('SELECT count(*) AS n FROM owners'),
        db.get('SELECT count(*) AS n FROM owners'),
      ])
      for (const [i, name] of names.entries()) {
        assert.deepEqual(found[i], {
          id: (found[i] as { id?: number }).id,
          name,
          literal: '$1',
          same: engine === 'sqlite' ? 1 : true,
        })
        assert.deepEqual(found[i + names.length], i % 2 === 0 ? { name } : undefined)
        assert.deepEqual(found[i + 2 * names.length], { name: names.at(-1) })
      }
      assert.deepEqual(found.slice(-2), [{ n: found.length > 0 ? (found.at(-1) as { n: number }).n : 0 }, found.at(-1)])
    }
  })

  test('one faulty read of a turn does not fail the others', async (t) => {
    const db = await open(t, engine)
    await db.write({ sql: insertOwner, params: ['a'] })
    const divide = 'SELECT name FROM owners WHERE name = $1 AND 10 / CAST($2 AS INTEGER) > 0'
    for (let round = 0; round < 3; round++) {
      const results = await Promise.allSettled(
        ['5', '2', engine === 'sqlite' ? '1' : '0'].map((by) => db.get(divide, ['a', by])),
      )
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'fulfilled', engine === 'sqlite' ? 'fulfilled' : 'rejected'],
      )
    }
  })

  test('scans without holding up the event loop, and sees what was written before', async (t) => {
    const db = await open(t, engine)
    await db.write({ sql: insertOwner, params: ['b'] })
    const scanned = await db.scan<{ name: string }>('SELECT id, name FROM owners WHERE name < $1 ORDER BY name', ['c'])
    assert.deepEqual(scanned, [{ id: 2, name: 'b' }])
    await db.write({
      sql: 'INSERT INTO things (owner_id, label, active, made_at) VALUES (1, NULL, FALSE, $1)',
      params: ['2026-01-02T03:04:05.678Z'],
    })
    const rows = 'SELECT label, active, made_at FROM things'
    assert.deepEqual(await db.scan(rows), await db.all(rows))
    const long =
      'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) AS n FROM n'
    const turns = countTurns()
    assert.deepEqual(await db.scan(long), [{ n: 300_000 }])
    const count = turns()
    assert.ok(count > 3, `the event loop turned ${count} times`)
  })

  test('reads the rows of a scan in small parts, however long they are', async (t) => {
    const db = await open(t, engine)
    const text = engine === 'sqlite' ? 'hex(zeroblob($1 / 2))' : "repeat('x', $1)"
    const rows = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2) SELECT i, ${text} AS long FROM n`
    const parse = t.mock.method(JSON, 'parse')
    const found = await db.scan<{ i: number; long: string }>(rows, [300_000, 90])
    const lengths = parse.mock.calls.map(({ arguments: [part] }) => part.length)
    assert.deepEqual([found.length, found[89]?.i, found[89]?.long.length], [90, 90, 300_000])
    assert.ok(Math.max(0, ...lengths) < 1_500_000, `${lengths.length} parts of up to ${Math.max(...lengths)}`)
    // More than any response could contain is not even collected. On PostgreSQL, a test of its own shows that.
    if (engine === 'sqlite' || isFull) await assert.rejects(db.scan(rows, [20_000_000, 1000]), { status: 503 })
    assert.equal((await db.scan(rows, [300_000, 2])).length, 2)
  })

  test('a failing scan rejects, and the next one works', async (t) => {
    const db = await open(t, engine)
    await assert.rejects(db.scan('SELECT nothing FROM nowhere'))
    assert.equal((await db.scan('SELECT 1 AS one')).length, 1)
    if (engine === 'sqlite') await assert.rejects(db.scan(insertOwner, ['x']))
  })

  test('takes placeholders in any order, repeated, and leaves quoted ones alone', async (t) => {
    const db = await open(t, engine)
    const row = await db.get(
      `SELECT name || '$1' AS quoted FROM owners WHERE name = $2 AND $1 = 'x' AND $2 = 'first' -- not $3`,
      ['x', 'first'],
    )
    assert.deepEqual(row, { quoted: 'first$1' })
  })

  test('gives the same types: numbers, booleans, ISO timestamps, bytes, nulls', async (t) => {
    const db = await open(t, engine)
    const [[row]] = await db.write<Record<string, unknown>>({
      sql: `INSERT INTO things (owner_id, label, active, amount, made_at, bytes) VALUES (1, $1, $2, $3, $4, $5)
            RETURNING id, label, active, amount, made_at, bytes`,
      params: ['5', false, 2 ** 40, '2026-11-15T04:34:57.120Z', new Uint8Array([0, 255])],
    })
    const { bytes, ...plain } = row ?? {}
    const expected = { id: 1, label: '5', active: false, amount: 2 ** 40, made_at: '2026-11-15T04:34:57.120Z' }
    assert.deepEqual(plain, expected)
    assert.deepEqual([...(bytes as Uint8Array)], [0, 255])
    const read = await db.get<Record<string, unknown>>('SELECT id, label, active, amount, made_at FROM things')
    assert.deepEqual(read, expected)

    await db.write({ sql: insertThing, params: [1, null] })
    const nulls = await db.get('SELECT label, amount, made_at, bytes, active FROM things WHERE id = 2')
    assert.deepEqual(nulls, { label: null, amount: null, made_at: null, bytes: null, active: true })
  })

  test('keeps every character of a text', async (t) => {
    const db = await open(t, engine)
    const text = `quote ' " \\ emoji 🗝️ combining e\u0301 line\nbreak`
    const [[row]] = await db.write({ sql: insertOwner, params: [text] })
    assert.deepEqual(row, { id: 2, name: text })
  })

  test('runs a batch as a whole: a later failure undoes the earlier statements', async (t) => {
    const db = await open(t, engine)
    await assert.rejects(
      db.write({ sql: insertOwner, params: ['kept?'] }, { sql: insertOwner, params: ['first'] }),
      (error) => error instanceof ConstraintError && error.kind === 'unique',
    )
    assert.equal(await ownersIn(db), 1)
  })

  test('hands a column of an earlier row to a later statement', async (t) => {
    const db = await open(t, engine)
    const [[owner], [thing]] = await db.write<{ id: number }, { owner_id: number }>(
      { sql: insertOwner, params: ['second'] },
      { sql: insertThing, params: [rowOf(0, 'id'), 'of second'] },
    )
    assert.equal(thing?.owner_id, owner?.id)
  })

  test('undoes a batch whose reference leads nowhere', async (t) => {
    const db = await open(t, engine)
    const update = { sql: 'UPDATE owners SET name = $1 WHERE id = $2 RETURNING id', params: ['x', 999] }
    await assert.rejects(
      db.write({ sql: insertOwner, params: ['gone'] }, update, { sql: insertThing, params: [rowOf(1, 'id'), 'x'] }),
      /returned no "id"/,
    )
    assert.equal(await ownersIn(db), 1)
  })

  test('does nothing if a deciding statement returns no row', async (t) => {
    const db = await open(t, engine)
    const decide = (id: number) => ({
      sql: 'UPDATE owners SET name = $1 WHERE id = $2 RETURNING id',
      params: ['renamed', id],
      decides: true,
    })
    const lost = await db.write({ sql: insertOwner, params: ['early'] }, decide(999))
    assert.deepEqual(lost, [[], []])
    assert.equal(await ownersIn(db), 1)
    const won = await db.write<{ id: number }>(decide(1), { sql: insertOwner, params: ['late'] })
    assert.deepEqual(won[0], [{ id: 1 }])
    assert.equal(await ownersIn(db), 2)
  })

  test('rehearses a batch: returns what it would, and undoes it', async (t) => {
    const db = await open(t, engine)
    const insert = { sql: insertOwner, params: ['rehearsed'] }
    const count = { sql: 'SELECT count(*) AS found FROM owners', rehearses: true }
    assert.deepEqual((await db.write<object>(insert, count, insert)).slice(1), [[{ found: 2 }]])
    assert.deepEqual((await db.write({ ...insert, rehearses: true }))[0]?.length, 1)
    assert.equal(await ownersIn(db), 1)
  })

  test('settles a race in one statement: one of fifty callers wins', async (t) => {
    const db = await open(t, engine)
    const take = { sql: `UPDATE owners SET name = 'taken' WHERE id = 1 AND name = 'first' RETURNING id` }
    const responses = await Promise.all(Array.from({ length: 50 }, () => db.write(take)))
    assert.equal(responses.filter(([rows]) => rows.length === 1).length, 1)
  })

  test('reports the violated constraint, and other writes of the same commit are kept', async (t) => {
    const db = await open(t, engine)
    const results = await Promise.allSettled([
      db.write({ sql: insertOwner, params: ['a'] }),
      db.write({ sql: insertOwner, params: ['first'] }),
      db.write({ sql: insertThing, params: [999, 'orphan'] }),
      db.write({ sql: insertOwner, params: [null] }),
      db.write({ sql: 'INSERT INTO things (owner_id, amount) VALUES (1, -1)' }),
      db.write({ sql: insertOwner, params: ['b'] }),
    ])
    const outcomes = results.map((result) => (result.status === 'fulfilled' ? 'kept' : result.reason.kind))
    assert.deepEqual(outcomes, ['kept', 'unique', 'foreign_key', 'not_null', 'check', 'kept'])
    assert.equal(await ownersIn(db), 3)
  })

  test('reports an SQL error only to its caller', async (t) => {
    const db = await open(t, engine)
    const [wrong, right] = await Promise.allSettled([
      db.write({ sql: 'INSERT INTO nowhere VALUES (1)' }),
      db.write({ sql: insertOwner, params: ['fine'] }),
    ])
    assert.equal(wrong.status, 'rejected')
    assert.equal(right.status, 'fulfilled')
    await assert.rejects(db.get('SELECT * FROM nowhere'))
    assert.equal(await ownersIn(db), 2)
  })

  test('takes a thousand parallel writes and loses none', async (t) => {
    const db = await open(t, engine)
    const responses = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => db.write<{ id: number }>({ sql: insertOwner, params: [`n${i}`] })),
    )
    assert.equal(new Set(responses.map(([[row]]) => row?.id)).size, 1000)
    assert.equal(await ownersIn(db), 1001)
  })

  test('inserts of one turn each get their own row, with ascending ids, and a refused one fails alone', async (t) => {
    const db = await open(t, engine)
    const add = (label: string, owner = 1) =>
      db.write<{ id: number; label: string }>({ sql: insertThing, params: [owner, label], insertsOne: true })
    await db.write({ sql: insertOwner, params: ['a'] })
    // The first round finds out how, the second shares.
    for (let round = 0; round < 3; round++) {
      const labels = Array.from({ length: 250 }, (_, i) => `${round}.${i}, "quoted", {1,2} \\ 'x' NULL é`)
      const made = await Promise.all(labels.map((label) => add(label)))
      assert.deepEqual(
        made.map(([[row]]) => row?.label),
        labels,
      )
      const ids = made.map(([[row]]) => row?.id as number)
      const stored = await db.all<{ label: string }>(
        'SELECT label FROM things WHERE id >= $1 AND id <= $2 AND label LIKE $3 ORDER BY id',
        [Math.min(...ids), Math.max(...ids), `${round}.%`],
      )
      assert.deepEqual(stored.map(({ label }) => label).sort(), labels.sort())
      const results = await Promise.allSettled([add('good'), add('bad', 99), add('fine')])
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
    }
    const { n } = (await db.get<{ n: number }>('SELECT count(*) AS n FROM things')) as { n: number }
    assert.equal(n, 3 * 252)
  })

  test('counts exactly under parallel batches that touch the same rows in opposite order', async (t) => {
    const db = await open(t, engine)
    await db.write(
      { sql: 'INSERT INTO things (owner_id, amount) VALUES (1, 0)' },
      { sql: 'INSERT INTO things (owner_id, amount) VALUES (1, 0)' },
    )
    const add = (id: number) => ({ sql: 'UPDATE things SET amount = amount + 1 WHERE id = $1', params: [id] })
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? db.write(add(1), add(2)) : db.write(add(2), add(1)))),
    )
    assert.deepEqual(await db.all('SELECT amount FROM things ORDER BY id'), [{ amount: 20 }, { amount: 20 }])
  })

  test('sees its own write as soon as it is acknowledged', async (t) => {
    const db = await open(t, engine)
    for (let i = 0; i < 50; i++) {
      await db.write({ sql: insertOwner, params: [`n${i}`] })
      assert.deepEqual(await db.get('SELECT name FROM owners WHERE name = $1', [`n${i}`]), { name: `n${i}` })
    }
  })

  test('refuses objects as parameters: no body of a client can pass for a reference or shift the others', async (t) => {
    const db = await open(t, engine)
    const forged = { statement: 0, column: 'name' } as unknown as string
    for (const bad of [{}, forged, new Date(0), [1], undefined, () => 1] as unknown as string[]) {
      await assert.rejects(db.get('SELECT name FROM owners WHERE name = $1', [bad]), TypeError)
      await assert.rejects(
        db.write({ sql: insertOwner, params: ['x'] }, { sql: insertOwner, params: [bad] }),
        TypeError,
      )
    }
    assert.equal(await ownersIn(db), 1)
  })

  test('closes while busy: earlier requests finish, later ones are refused', async (t) => {
    const db = await open(t, engine)
    const before = Promise.all(Array.from({ length: 200 }, (_, i) => db.write({ sql: insertOwner, params: [`n${i}`] })))
    const closed = db.close()
    const late = (error: unknown) => error instanceof AppError && error.status === 503
    await assert.rejects(db.write({ sql: insertOwner, params: ['late'] }), late)
    await assert.rejects(db.get(countOwners), late)
    assert.equal((await before).length, 200)
    await closed
    await db.close()
  })
}

onEachEngine('the database', (engine) => {
  if (engine === 'sqlite') return contract(engine, open)
  // A new database takes longer than most of these tests.
  const shared = share((owner) => createDatabaseUrl(owner, engine))
  contract(engine, async (t, engine, options) => {
    const db = await open(t, engine, { ...options, url: await shared() })
    await db.write(
      { sql: 'TRUNCATE owners, things RESTART IDENTITY' },
      { sql: "INSERT INTO owners (name) VALUES ('first')" },
    )
    return db
  })
})

if (isFull) {
  describe('the database, on postgres behind a pooler that shares connections between transactions', () => {
    // Few connections, handed out in turns, so that hardly any is used twice in a row.
    const settings = { default_pool_size: 4, server_round_robin: 1 }
    let pooler: PgBouncer
    let stop = () => {}
    before(async () => {
      const whenDone = (work: () => void) => {
        stop = work
      }
      pooler = await startPgBouncer({ after: whenDone }, testServer('TEST_DATABASE_URL'), 'transaction', settings)
    })
    after(() => stop())
    contract('postgres', async (t, engine, options = {}) => {
      const { pathname } = new URL(await createDatabaseUrl(t, engine))
      const url = new URL(pooler.url)
      url.pathname = pathname
      const db = await open(t, engine, { ...options, url: url.href })
      assert.equal(db.isTransactionPooled?.(), true)
      return db
    })
  })
}

test('the SQLite files can be read only by their owner', async (t) => {
  const folder = temporaryFolder(t)
  const migrations = writeMigrations(temporaryFolder(t), { '0001-things': schema })
  const { db } = await openDatabase(openOptions({ url: `file:${join(folder, 'deep', 'test.db')}`, migrations }))
  t.after(() => db.close())
  await db.write({ sql: insertOwner, params: ['a'] })
  const files = readdirSync(join(folder, 'deep'))
  assert.deepEqual(files.sort(), ['test.db', 'test.db-shm', 'test.db-wal'])
  for (const file of files) assert.equal(statSync(join(folder, 'deep', file)).mode & 0o777, 0o600, file)
})

if (engines.includes('postgres')) {
  for (const [kind, statements] of [
    ['pipelined', [{ sql: 'SELECT pg_sleep(600)' }, { sql: 'SELECT 1' }]],
    ['stepwise', [{ sql: 'SELECT pg_sleep(600)' }, { sql: 'SELECT 1', decides: true }]],
  ] as const) {
    test(`a connection that is lost in a ${kind} batch fails that batch as 503 and nothing else`, async (t) => {
      const db = await open(t, 'postgres')
      const batch = assert.rejects(
        db.write(...statements),
        (error) => error instanceof AppError && error.status === 503,
      )
      // Once it has started.
      await eventually(async () => {
        const ended = await db.all(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()`)
        assert.equal(ended.length, 1)
      })
      await batch
      await db.write({ sql: insertOwner, params: ['after'] })
      assert.equal(await ownersIn(db), 2)
    })
  }

  test('a connection starts with nothing that a pooler would refuse', async (t) => {
    const proxy = await startProxy(t, await createDatabaseUrl(t, 'postgres'))
    const db = await open(t, 'postgres', { url: proxy.url })
    await connectionOf(db)
    for (const connection of proxy.open()) {
      const names = connection.sent().slice(8).split('\0\0')[0]?.split('\0') ?? []
      const parameters = names.filter((_, i) => i % 2 === 0)
      const known = ['user', 'database', 'application_name', 'client_encoding']
      assert.deepEqual(
        parameters.filter((name) => !known.includes(name)),
        [],
        names.join(' '),
      )
    }
  })

  test('a constraint violation keeps the connection, an SQL error closes it', async (t) => {
    const db = await open(t, 'postgres', { poolSize: 1 })
    const first = await connectionOf(db)
    const twice = { sql: insertOwner, params: ['first'] }
    for (const batch of [[twice], [twice, twice]]) await assert.rejects(db.write(...batch), ConstraintError)
    assert.equal(await connectionOf(db), first)
    await assert.rejects(db.all('SELECT nonsense'))
    assert.notEqual(await connectionOf(db), first)
  })

  test('a result that grows too long fails alone, and small queries work meanwhile', async (t) => {
    const db = await open(t, 'postgres', { poolSize: 4 })
    let isReading = true
    const long = assert
      .rejects(db.scan("SELECT repeat('x', 20000000) AS text FROM generate_series(1, 100)"), { status: 503 })
      .finally(() => {
        isReading = false
      })
    let answered = 0
    while (isReading) {
      const few = await Promise.all(Array.from({ length: 8 }, (_, i) => db.all('SELECT CAST($1 AS BIGINT) AS i', [i])))
      assert.deepEqual(
        few.flat(),
        [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ({ i })),
      )
      answered += 1
    }
    await long
    assert.ok(answered > 3)
  })

  test('long results are read in turns with other queries, complete and in order', async (t) => {
    const db = await open(t, 'postgres')
    const turns = countTurns()
    const rows = await db.scan<{ n: number; text: string }>(
      "SELECT n, repeat('x', 1000) AS text FROM generate_series(1, 5000) AS n",
    )
    const count = turns()
    assert.deepEqual(
      rows.map(({ n }) => n),
      Array.from({ length: 5000 }, (_, i) => i + 1),
    )
    assert.ok(rows.every(({ text }) => text.length === 1000))
    // Five megabytes, 64 KiB at a time.
    assert.ok(count > 60, `${count} turns`)
  })
}
