/** The commands of collections. */
import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { helpdeskSource } from '../support/helpdesk.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { openOptions } from '../support/migrations.ts'

onAnyEngine('the commands of a collection', (engine) => {
  test('seed rows, export them, and import them once, with what is wrong by line', async (t) => {
    const folder = temporaryFolder(t)
    const extension = join(folder, 'helpdesk.ts')
    copyFileSync(helpdeskSource, extension)
    const url = await createDatabaseUrl(t, engine)
    const env = { DATABASE_URL: url, LATCHKEY_EXTENSIONS: extension }
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runLoaded(args, { env })
      return { code, stdout, stderr, file: join(folder, args.at(-1) ?? '') }
    }
    const early = await run('tickets:seed', '--count', '10')
    assert.match(early.stderr, /"team" must refer to one of teams, and there are none yet/)
    const { db } = await openDatabase(openOptions({ url, migrations: [], isMigrated: true }))
    t.after(() => db.close())
    await db.write({
      sql: "INSERT INTO users (email, password_hash, created_at, updated_at) VALUES ('grace@example.com', '', $1, $1)",
      params: ['2026-01-01T00:00:00.000Z'],
    })
    const count = async (table: string) => (await db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n
    assert.match((await run('teams:seed', '--count', '3')).stdout, /^made 3 in /)
    assert.match((await run('tickets:seed', '--count', '250')).stdout, /^made 250 in /)
    assert.equal(await count('tickets'), 250)

    const [csv, ndjson] = [join(folder, 'tickets.csv'), join(folder, 'tickets.ndjson')]
    assert.equal((await run('tickets:export', '--output', csv)).code, 0)
    assert.equal((await run('tickets:export', '--output', ndjson)).code, 0)
    assert.match((await run('tickets:export', '--output', csv)).stderr, /exists/)
    const lines = readFileSync(ndjson, 'utf8').trim().split('\n')
    assert.equal(lines.length, 250)
    const { id, created_at, updated_at, ...first } = JSON.parse(lines[0] ?? '')
    assert.match(
      readFileSync(csv, 'utf8'),
      /^id,title,body,team,author,assignee,status,priority,cost,tags,due,created_at,updated_at\n/,
    )
    for (const file of [csv, ndjson]) {
      const imported = await run('tickets:import', file)
      assert.match(imported.stdout, /^imported 250, skipped 0, in /, imported.stderr)
      const refused = await run('tickets:import', file)
      assert.deepEqual([refused.code, refused.stdout], [1, ''])
      assert.match(refused.stderr, /was imported on \d{4}-\d\d-\d\d at \d\d:\d\d UTC; --again imports it once more/)
    }
    assert.equal(await count('tickets'), 750)
    // As if it had been interrupted between two rows and the note of them.
    await db.write({ sql: 'UPDATE collection_imports SET records = 240, finished_at = NULL' })
    const resumed = await run('tickets:import', csv)
    assert.match(resumed.stdout, /^imported 10, skipped 0, in .* \(in all 250 imported, 0 skipped\)/)
    assert.match(resumed.stderr, /going on after the first 240 rows, which are done/)
    assert.equal(await count('tickets'), 750)
    const again = await run('tickets:export')
    const copies = again.stdout.split('\n').filter((line) => line.includes(`,${first.title},`))
    assert.equal(copies.length, 3)

    const wrong = join(folder, 'wrong.csv')
    writeFileSync(wrong, 'title,team,author,tags\nFine,1,1,"[""a"",""b""]"\nNo team,99,1,\n,1,1,\n"Broken,1,1\n')
    const refused = await run('tickets:import', wrong)
    assert.equal(refused.code, 65)
    assert.match(refused.stderr, /line 3: team: Does not exist\nline 4: title: Must not be blank\nline 5: /)
    assert.match(refused.stdout, /^imported 1, skipped 3, in /)
    const strict = await run('tickets:import', '--strict', '--again', wrong)
    assert.equal(strict.code, 65)
    assert.match(strict.stderr, /line 3: team: Does not exist\n[\s\S]*3 rows are wrong; nothing was imported/)
    const formula = join(folder, 'formula.csv')
    writeFileSync(formula, 'title,team,author\n=1+1,1,1\n')
    const before = await count('tickets')
    for (const options of [[], ['--again'], ['--again', '--strict']])
      assert.equal((await run('tickets:import', ...options, formula)).code, 0)
    assert.equal(await count('tickets'), before && before + 3)
    assert.match((await run('tickets:export')).stdout, /,'=1\+1,/)
    assert.match((await run('tickets:export', '--exact')).stdout, /,=1\+1,/)
  })

  test('show what is declared', async (t) => {
    const folder = temporaryFolder(t)
    const extension = join(folder, 'helpdesk.ts')
    copyFileSync(helpdeskSource, extension)
    const env = { LATCHKEY_EXTENSIONS: extension }
    const all = await runLoaded(['collections:show'], { env })
    assert.match(all.stdout, /^teams \(\/api\/teams, table teams\)\n[\s\S]*\ntickets [\s\S]*\ncomments /)
    const one = await runLoaded(['collections:show', 'tickets'], { env })
    assert.match(one.stdout, / {4}status {6}one of open, pending, closed, by default open\n/)
    assert.match(
      one.stdout,
      / {4}read {4}author is you or members of the team include you or you have the permission tickets\.view\n/,
    )
    const none = await runLoaded(['collections:show', 'ticket'], { env })
    assert.deepEqual([none.code, none.stderr], [64, 'latchkey: there is no collection ticket; do you mean tickets?\n'])
    assert.match((await runLoaded(['collections:show'], {})).stdout, /no collections are declared/)
  })
})
