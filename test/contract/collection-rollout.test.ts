/** Nodes of two releases serve one PostgreSQL database side by side, while a field is renamed in two releases. */
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { diffsOf, writeDiffs } from '../../src/app/collections-schema.ts'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { collection } from '../../src/collections/collection.ts'
import { email, integer, list, text } from '../../src/collections/declare/fields.ts'
import { everybody } from '../../src/collections/declare/rules.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import type { Feature } from '../../src/platform/feature.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, onEachEngine, onPostgres, temporaryFolder } from '../support/databases.ts'
import { openOptions } from '../support/migrations.ts'
import { readTableSchema } from '../support/table-schema.ts'

const common = { name: 'things', rules: { read: everybody, create: everybody, update: everybody } }
const releases = [
  {
    fields: { title: text({ max: 50, unique: true }), tags: list(text()), size: integer() },
    sort: ['title'],
    filter: ['tags'],
  },
  {
    fields: { subject: text({ max: 50, unique: true, was: 'title' }), words: list(text(), { was: 'tags' }) },
    sort: ['subject'],
    filter: ['words'],
    kept: ['title', 'tags', 'size'],
  },
  {
    fields: { subject: text({ max: 50, unique: true }), words: list(text()) },
    sort: ['subject'],
    filter: ['words'],
    gone: ['title', 'tags', 'size'],
  },
]

/** Each release has the migrations of those before it, and its own. */
function createReleases(t: TestContext, url: string) {
  let last: string | undefined
  return async (number: number): Promise<Feature> => {
    const folder = temporaryFolder(t)
    if (last !== undefined) cpSync(last, folder, { recursive: true })
    last = folder
    const feature = collection({ ...common, ...releases[number], migrations: folder } as never) as Feature
    const database = { ...openOptions({ url, migrations: [] }), poolSize: 1 }
    await writeDiffs(diffsOf([feature]), { database, onWritten() {} })
    return feature
  }
}

onPostgres('a field is renamed in two releases, whose nodes serve side by side', async (t) => {
  const url = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
  const release = createReleases(t, url)
  const start = async (number: number) =>
    startApi(t, { engine: 'postgres', extensions: [await release(number)], env: { DATABASE_URL: url } })
  const add = async (api: Awaited<ReturnType<typeof start>>, values: object) => {
    const added = await api.post('/api/things', values)
    assert.equal(added.status, 201, JSON.stringify(added.body))
    return added.body.data.id as number
  }
  const old = await start(0)
  const first = await add(old, { title: 'First', tags: ['a'], size: 1 })
  const now = await start(1)

  // Both write at once, and each sees what the other has written.
  const names = Array.from({ length: 10 }, (_, i) => String(i))
  const ids = await Promise.all([
    ...names.map((name) => add(old, { title: `Old ${name}`, tags: ['a', name], size: 2 })),
    ...names.map((name) => add(now, { subject: `New ${name}`, words: ['b', name] })),
  ])
  await Promise.all([
    ...ids.slice(0, 5).map((id, i) => now.put(`/api/things/${id}`, { subject: `Changed ${i}`, words: ['c'] })),
    ...ids.slice(10, 15).map((id, i) => old.put(`/api/things/${id}`, { title: `Other ${i}`, tags: ['c'] })),
  ])
  const read = async (api: typeof old, query: string) => {
    const { status, body } = await api.get(`/api/things?per_page=50&${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return (body.data as { attributes: Record<string, unknown> }[]).map(({ attributes }) => attributes)
  }
  const seen = async (sort: string) => {
    const [before, after] = [await read(old, sort.replace('$', 'title')), await read(now, sort.replace('$', 'subject'))]
    assert.deepEqual(
      before.map(({ title, tags }) => [title, tags]),
      after.map(({ subject, words }) => [subject, words]),
    )
    return after
  }
  assert.equal((await seen('sort=$')).length, 21)
  assert.equal((await seen('sort=-$')).length, 21)
  const tagged = [await read(old, 'filter[tags]=c'), await read(now, 'filter[words]=c')]
  assert.deepEqual(
    tagged.map((rows) => rows.length),
    [10, 10],
  )
  const twice = [
    await old.post('/api/things', { title: 'New 9', size: 1 }),
    await now.post('/api/things', { subject: 'Old 9' }),
  ]
  assert.deepEqual(
    twice.map(({ status, body }) => [status, body.details]),
    [
      [422, { title: ['Is already taken'] }],
      [422, { subject: ['Is already taken'] }],
    ],
  )

  // Entries of the log have what either release reads.
  const readLog = async (api: typeof old) => {
    const found: Record<string, unknown>[] = []
    for (let cursor = '0', isMore = true; isMore; ) {
      const { body } = await api.get(`/api/things/changes?after=${cursor}&limit=500`)
      for (const { data } of body.data) if (data) found.push(data.attributes)
      cursor = body.meta.cursor
      isMore = body.meta.more
    }
    return found
  }
  const [logOfOld, logOfNow] = [await readLog(old), await readLog(now)]
  assert.deepEqual(
    logOfOld.slice(1).map(({ title, tags }) => [title, tags]),
    logOfNow.slice(1).map(({ subject, words }) => [subject, words]),
  )
  assert.ok(logOfNow.every((attributes) => !Object.hasOwn(attributes, 'title')))
  const { body: versions } = await now.get(`/api/things/${ids[10]}/versions`)
  assert.deepEqual(Object.keys(versions.data[0].changes), ['subject', 'words'])

  await old.app.close()
  const last = await start(2)
  await Promise.all([
    ...names.map((name) => add(now, { subject: `Later ${name}`, words: [] })),
    ...names.map((name) => add(last, { subject: `Latest ${name}`, words: ['d'] })),
    now.put(`/api/things/${first}`, { subject: 'Changed by the second' }),
  ])
  const [rows, others] = [await read(last, 'sort=subject'), await read(now, 'sort=subject')]
  assert.equal(rows.length, 41)
  assert.deepEqual(rows, others)
})

onEachEngine('fields that are kept for a release', (engine) => {
  test('follow those that take their place, and leave the tables of a new database once they are gone', async (t) => {
    const url = await createDatabaseUrl(t, engine, { isMigrated: true })
    const release = createReleases(t, url)
    const open = async (feature: Feature, to = url) => {
      const { migrations } = declaredBy([...ownFeatures, feature])
      const { db } = await openDatabase(openOptions({ url: to, migrations }))
      t.after(() => db.close())
      return db
    }
    const at = '2026-01-01T00:00:00.000Z'
    const first = await open(await release(0))
    await first.write({
      sql: `INSERT INTO things (title, title__key, tags, size, created_at, updated_at) VALUES ('First', 'first', '["a"]', 1, '${at}', '${at}')`,
    })
    const second = await open(await release(1))
    await second.write({
      sql: `INSERT INTO things (subject, subject__key, words, created_at, updated_at) VALUES ('Second', 'second', '["b"]', '${at}', '${at}')`,
    })
    await second.write({ sql: `UPDATE things SET words = '["c"]' WHERE id = 1` })
    const columns = 'id, title, title__key, tags, size, subject, subject__key, words, version'
    const same = (id: number, name: string, item: string, size: number | null, version: number) => ({
      ...{ id, title: name, title__key: name.toLowerCase(), tags: `["${item}"]`, size },
      ...{ subject: name, subject__key: name.toLowerCase(), words: `["${item}"]`, version },
    })
    assert.deepEqual(await second.all(`SELECT ${columns} FROM things ORDER BY id`), [
      same(1, 'First', 'c', 1, 2),
      same(2, 'Second', 'b', null, 1),
    ])
    assert.deepEqual(
      await second.all('SELECT value, row_id FROM things__tags ORDER BY row_id'),
      await second.all('SELECT value, row_id FROM things__words ORDER BY row_id'),
    )
    const third = await open(await release(2))
    const fresh = await createDatabaseUrl(t, engine, { isMigrated: true })
    const { gone: _, ...declared } = releases[2] as (typeof releases)[2] & { gone: string[] }
    const alone = collection({ ...common, ...declared, migrations: temporaryFolder(t) } as never) as Feature
    const database = { ...openOptions({ url: fresh, migrations: [] }), poolSize: 1 }
    await writeDiffs(diffsOf([alone]), { database, onWritten() {} })
    const expected = await readTableSchema(await open(alone, fresh), 'things')
    assert.deepEqual(await readTableSchema(third, 'things'), expected)
  })
})

test('fields that are kept must be known, no longer declared, and of the kind of what takes their place', async (t) => {
  const folder = temporaryFolder(t)
  const diff = (declared: object) =>
    diffsOf([collection({ ...common, ...declared, migrations: folder } as never) as Feature])
  const write = async (declared: object) => writeDiffs(diff(declared), { database: undefined as never, onWritten() {} })
  await write({ fields: { title: text(), size: integer({ optional: true }) }, sort: ['title'] })
  const size = integer({ optional: true })
  const refused: [object, RegExp][] = [
    [{ fields: { title: text(), size }, sort: ['title'], kept: ['name'] }, /`kept` names "name", which the migrations/],
    [{ fields: { title: text(), size }, sort: ['title'], kept: ['size'] }, /`kept` names "size", which is declared/],
    [{ fields: { name: text({ was: 'title' }), size }, kept: ['title'] }, /must be sorted and searched by as "title"/],
    [{ fields: { name: email({ was: 'title' }), size }, kept: ['title'] }, /"name" cannot .* must be of the same kind/],
  ]
  for (const [declared, reason] of refused) await assert.rejects(() => write(declared), reason)
  await write({ fields: { title: text() }, sort: ['title'], kept: ['size'] })
  assert.deepEqual(diff({ fields: { title: text() }, sort: ['title'], kept: ['size'] }), [])
  await assert.rejects(() => write({ fields: { title: text() }, sort: ['title'] }), /"size" is no longer declared/)
})
