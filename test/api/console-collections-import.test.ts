/** Importing a file of rows of a collection in the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService, unlimitedRates } from '../support/api.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { type Helpdesk, startHelpdesk } from '../support/helpdesk.ts'

const path = '/console/tickets/import'

onAnyEngine('an import into a collection', (engine) => {
  const shared = shareService((t) => startHelpdesk(t, engine, { env: unlimitedRates }), {})

  async function enter(api: Helpdesk, person: 'ada' | 'grace' | 'chief') {
    const browser = openConsole(api)
    await browser.signIn(api[person].email)
    const { _token = '' } = (await browser.open(path)).hidden(path)
    return { browser, send: (sent: Sent) => post(browser, { _token, ...sent }) }
  }

  async function createTeam(api: Helpdesk, name: string): Promise<number> {
    const team = { name: `${name} ${engine}`, members: [api.ada.id] }
    return (await api.post('/api/teams', team, api.chief.access)).body.data.id
  }

  const titlesIn = async (api: Helpdesk, team: number) =>
    (await api.get(`/api/tickets?filter[team]=${team}&sort=title`, api.chief.access)).body.data.map(
      ({ attributes }: { attributes: { title: string } }) => attributes.title,
    )

  test('previews a file, and imports it once with the rules of the API', async () => {
    const api = await shared()
    const team = await createTeam(api, 'Import')
    const { send } = await enter(api, 'ada')
    const text = `Title;Team;Priority;Tags;Author;Cost;Colour\nPrinter;${team};4;"[""paper"",""toner""]";7;9;red\nX;${team};9;[];;;\nLost;9999;1;;;;\n`
    const preview = await send({ act: 'preview', file: text })
    assert.equal(preview.status, 200)
    assert.match(preview.text, /tickets\.csv: 2 tickets to import, 1 row with problems/)
    assert.match(
      preview.text,
      /title , team , priority , tags , author \(ignored\) , cost \(ignored\) , colour \(ignored\)/,
    )
    assert.match(preview.text, /Title Team Assignee.*Printer/)
    assert.match(preview.text, /Line 3 title: Must be between 2 and 200 characters; priority: Must be at most 5/)
    assert.deepEqual(await titlesIn(api, team), [])

    const carried = preview.hidden(path)
    const imported = await send({ act: 'import', ...carried })
    assert.match(imported.text, /1 ticket is imported\. .*2 rows are not imported.*Line 3.*Line 4 team: Does not exist/)
    assert.deepEqual(await titlesIn(api, team), ['Printer'])
    const [row] = (await api.get(`/api/tickets?filter[team]=${team}`, api.ada.access)).body.data
    assert.deepEqual([row.attributes.author, row.attributes.tags], [api.ada.id, ['paper', 'toner']])
    const rejected = await send({ act: 'rejected', ...imported.hidden(path) })
    assert.match(rejected.html, /^line,problem,title,/)
    assert.match(rejected.html, /\n3,"?title: Must be.*\n4,team: Does not exist,Lost,/)

    const again = await send({ act: 'import', ...carried })
    assert.equal(again.status, 409)
    assert.match(again.text, /This file is imported already: 1 ticket\./)
    const confirmed = await send({ act: 'import', again: 'yes', ...again.hidden(path) })
    assert.match(confirmed.text, /1 ticket is imported/)
    assert.deepEqual(await titlesIn(api, team), ['Printer'], 'a row is not created twice')
  })

  test('reads NDJSON with lists and exact numbers', async () => {
    const api = await shared()
    const team = await createTeam(api, 'Lines')
    const { send } = await enter(api, 'chief')
    const lines = [
      `{"title":"Exact","team":${team},"cost":1234567890123.455,"tags":["a","b"]}`,
      `{"title":"Wrong","team":${team},"tags":"a"}`,
      'not json',
    ]
    const preview = await send({ act: 'preview', file: lines.join('\n'), name: 'tickets.ndjson' })
    assert.match(preview.text, /1 ticket to import, 2 rows with problems/)
    await send({ act: 'import', ...preview.hidden(path) })
    const [row] = (await api.get(`/api/tickets?filter[team]=${team}`, api.chief.access)).body.data
    assert.deepEqual([row.attributes.cost, row.attributes.tags], [1234567890123.46, ['a', 'b']])
  })

  test('continues where an import of the same file was interrupted', async () => {
    const api = await shared()
    const team = await createTeam(api, 'Half')
    const { send, browser } = await enter(api, 'ada')
    const file = `title,team\n${Array.from({ length: 5 }, (_, i) => `Half ${i},${team}\n`).join('')}`
    const [, id = ''] = /data-import="([0-9a-f]{64})"/.exec((await send({ act: 'preview', file })).html) ?? []
    await api.db.write({
      sql: 'INSERT INTO collection_imports (id, records, rejected, started_at) VALUES ($1, 3, 0, $2)',
      params: [id, api.clock.nowIso()],
    })
    assert.match((await send({ act: 'import', file })).text, /2 tickets are imported/)
    assert.deepEqual(await titlesIn(api, team), ['Half 3', 'Half 4'])
    assert.equal((await browser.open(`${path}/${id}`)).html, '{"records":5}')
  })

  test('is for those who may create rows, and needs the token of its form', async () => {
    const api = await shared()
    const { send, browser } = await enter(api, 'ada')
    const file = 'title,team\nForged,1\n'
    assert.equal((await send({ act: 'import', file, _token: 'made.up' })).status, 403)
    assert.match((await send({ act: 'preview', file: 'name,team\nX,1\n' })).text, /The file has no column title/)
    assert.match((await browser.open('/console/teams')).html, /href="\/console\/teams\/import"/)
    assert.match((await openConsole(api).open(path)).location ?? '', /sign-in/)
  })
})

interface Sent {
  act: string
  file?: string
  name?: string
  [field: string]: string | undefined
}

async function post(browser: ConsoleBrowser, { file, name, ...fields }: Sent) {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value ?? '')
  if (file === undefined) form.set('name', name ?? '')
  else form.set('file', new File([file], name ?? 'tickets.csv'))
  const encoded = new Response(form)
  return browser.postRaw(path, Buffer.from(await encoded.arrayBuffer()), encoded.headers.get('content-type') ?? '')
}
