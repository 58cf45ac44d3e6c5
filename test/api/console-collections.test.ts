/** The console pages of a collection, in a browser without scripts. */
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadExtensions } from '../../src/app/load-extensions.ts'
import { root } from '../../src/config/root.ts'
import { shareService } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { type Helpdesk, startHelpdesk } from '../support/helpdesk.ts'
import { startApiWithRoles } from '../support/roles.ts'

onAnyEngine('a collection in the console', (engine) => {
  const shared = shareService((t) => startHelpdesk(t, engine), {})

  async function enter(api: Helpdesk, person: 'ada' | 'grace' | 'chief') {
    const browser = openConsole(api)
    await browser.signIn(api[person].email)
    return browser
  }

  test('is listed, created by a form once however often it is sent, changed, deleted and brought back', async () => {
    const api = await shared()
    const browser = await enter(api, 'chief')
    const home = await browser.open('/console/teams')
    assert.match(home.text, /Teams.*Tickets.*Comments/)
    await browser.open('/console/teams/new')
    const team = await browser.follow(
      await browser.submit('/console/teams', { name: 'Support', members: `${api.ada.id}` }),
    )
    assert.match(team.text, /Team created/)
    const form = await browser.open('/console/tickets/new')
    assert.match(form.html, /<select id="field-status" name="status">/)
    const sent = {
      ...form.hidden('/console/tickets'),
      title: 'Printer',
      team: '1',
      tags: 'paper\ntoner',
      priority: '4',
      due: '2026-12-24',
    }
    const [created] = await Promise.all([
      browser.post('/console/tickets', sent),
      browser.post('/console/tickets', sent),
    ])
    const page = await browser.follow(created)
    assert.match(page.text, /Ticket created.*Printer.*History Created by Ada/)
    const list = await browser.open('/console/tickets?columns=title,team,author,status,priority,tags,due')
    assert.match(list.text, /1 ticket .*Printer Support Ada Open 4 paper, toner 2026-12-24/)
    assert.match(
      (await browser.open('/console/tickets')).text,
      /Title Team Author Assignee Status Priority Cost Updated at Printer/,
    )

    await browser.open('/console/tickets/1')
    const wrong = await browser.submit('/console/tickets/1', {
      priority: '9',
      tags: `ok\n${'x'.repeat(50)}`,
      due: 'soon',
    })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Must be at most 5\..*Line 2: Must be at most 40 characters\..*Must be a date\./)
    const [one, other] = [await enter(api, 'chief'), await enter(api, 'chief')]
    await one.open('/console/tickets/1')
    await other.open('/console/tickets/1')
    const saved = await one.follow(await one.submit('/console/tickets/1', { title: 'Scanner' }))
    assert.match(saved.text, /Ticket saved.*Edited by Ada.*Title Printer → Scanner/)
    const late = await other.submit('/console/tickets/1', { title: 'Copier' })
    assert.equal(late.status, 412)
    assert.match(late.text, /Someone else changed this while you were editing/)
    await other.submit('/console/tickets/1', { title: 'Copier' })
    assert.match((await one.open('/console/tickets?q=copi')).text, /Copier/)

    await one.open('/console/tickets/1')
    const deleted = await one.follow(await one.submit('/console/tickets/1/delete'))
    assert.match(deleted.text, /Ticket deleted/)
    const back = await one.follow(await one.submit('/console/tickets/1/restore'))
    assert.match(back.text, /Ticket restored/)
  })

  test('shows what the rules allow, and offers what they may allow', async () => {
    const api = await shared()
    const { body } = await api.post(
      '/api/teams',
      { name: `Console ${engine}`, members: [api.ada.id] },
      api.chief.access,
    )
    const team = body.data.id
    const ticket = (await api.post('/api/tickets', { title: 'For Ada', team, cost: 12.5 }, api.chief.access)).body.data
      .id
    const [ada, grace] = [await enter(api, 'ada'), await enter(api, 'grace')]
    assert.match((await ada.open('/console/tickets')).text, /For Ada/)
    const list = await grace.open('/console/tickets')
    assert.match(list.text, /No tickets found/)
    assert.doesNotMatch(list.text, /For Ada/)
    assert.equal((await grace.open(`/console/tickets/${ticket}`)).status, 404)
    const page = await ada.open(`/console/tickets/${ticket}`)
    assert.doesNotMatch(page.html, /12\.5|name="cost"|Delete ticket/)
    assert.equal((await ada.submit(`/console/tickets/${ticket}`, { title: 'Mine' })).status, 403)
    assert.equal(
      (await ada.post(`/console/tickets/${ticket}/delete`, page.hidden(`/console/tickets/${ticket}`))).status,
      403,
    )
    const csv = await ada.open('/console/tickets/export')
    assert.match(csv.html, /^id,title,body,team,author,assignee,status,priority,tags,due,created_at,updated_at\n/)
    assert.match(csv.html, /For Ada/)
    assert.doesNotMatch((await grace.open('/console/tickets/export')).html, /For Ada/)
  })

  test('changes and deletes several rows at once, and says which ones it could not', async () => {
    const api = await shared()
    const team = (await api.post('/api/teams', { name: `Bulk ${engine}`, members: [api.ada.id] }, api.chief.access))
      .body.data.id
    const create = async (title: string, person: 'ada' | 'chief') =>
      String((await api.post('/api/tickets', { title, team }, api[person].access)).body.data.id)
    const [own, other] = [await create('Own', 'ada'), await create('Other', 'chief')]
    const list = `/console/tickets?filter[team]=${team}`
    const ada = await enter(api, 'ada')
    const page = await ada.open(list)
    assert.match(page.text, /Set Status: Closed/)
    assert.doesNotMatch(page.html, /value="delete"/)
    const set = await ada.submit('/console/tickets/bulk', { action: 'status=closed', pick: [own, other] })
    assert.equal(set.status, 409)
    assert.match(set.text, /1 ticket updated Not changed Other : Forbidden/)
    const chief = await enter(api, 'chief')
    await chief.open(list)
    const gone = await chief.submit('/console/tickets/bulk', { action: 'delete', pick: [own, other] })
    assert.match(gone.text, /2 tickets deleted/)
    assert.ok(gone.html.includes(`filter%5Bteam%5D=${team}`), gone.html)
    assert.match((await chief.open(list)).text, /No tickets found/)
    const none = await chief.open('/console/tickets')
    assert.ok(none.hasForm('/console/tickets/bulk'))
    assert.match((await chief.submit('/console/tickets/bulk', { action: 'delete' })).text, /Nothing was selected/)
    await chief.open('/console/tickets')
    assert.equal((await chief.submit('/console/tickets/bulk', { action: 'drop=1', pick: ['1'] })).status, 400)
  })

  test('says what is wrong with an address', async () => {
    const api = await shared()
    const browser = await enter(api, 'chief')
    const { status, text } = await browser.open('/console/tickets?filter[priority][gte]=high')
    assert.equal(status, 422)
    assert.match(text, /This filter cannot be used filter\[priority\]\[gte\]: Must be an integer/)
    assert.match(
      (await browser.open('/console/tickets?sort=-priority&columns=title,priority')).text,
      /Title Priority ↓/,
    )
  })

  test('is documented with its fields, rules, indexes and rows, for those who may see that', async () => {
    const api = await shared()
    const browser = await enter(api, 'chief')
    const list = await browser.open('/console/collections')
    assert.match(list.text, /Collections.*Teams \/api\/teams \d+ \d+.* KB Tickets \/api\/tickets/)
    const { text } = await browser.open('/console/collections/tickets')
    assert.match(text, /status one of open, pending, closed, by default open/)
    assert.match(text, /cost number with 2 decimals, at least 0, optional if you have the permission tickets\.costs/)
    assert.match(text, /Read author is you or members of the team include you or you have the permission tickets\.view/)
    assert.match(text, /author one of users, by default the user never/)
    assert.match(text, /tickets__live/)
    assert.match(text, /latchkey\.collection\('tickets'\)\.list/)
    assert.equal((await browser.open('/console/collections/nothing')).status, 404)
    assert.equal((await (await enter(api, 'ada')).open('/console/collections')).status, 403)
  })
})

test('a new collection begins as a file with a declaration, in development', async (t) => {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config')
  cpSync(join(root, 'config'), config, { recursive: true })
  const api = await startApiWithRoles(t, { config })
  const browser = openConsole(api)
  await browser.signIn((await api.signInAs('admin')).email)
  assert.match((await browser.open('/console/collections')).text, /New collection .*No collections yet/)
  const submit = async (name: string) => {
    await browser.open('/console/collections/new')
    return browser.submit('/console/collections/new', { name })
  }
  for (const [name, problem] of [
    ['', 'Must not be blank'],
    ['../plans', 'Must be lower-case words, joined by hyphens'],
    ['a'.repeat(41), 'Must be at most 40 characters'],
    ['products', 'Is already taken'],
  ] as const) {
    const { status, text } = await submit(name)
    assert.equal(status, 422)
    assert.ok(text.includes(problem), text)
  }
  const written = await submit('project-plans')
  assert.match(written.text, /Collection created .*extensions = \["\.\.\/collections\/project-plans\.ts"\]/)
  assert.match((await submit('project-plans')).text, /There is already a file/)

  const extensions = await loadExtensions(['../collections/project-plans.ts'], config)
  const other = await startApiWithRoles(t, { config, extensions })
  const { access } = await other.signInAs('user')
  assert.equal((await other.post('/api/project-plans', { title: 'First' }, access)).status, 201)
  assert.equal((await other.get('/api/project-plans?sort=-title&q=fir', access)).body.meta.total, 1)
  const viewer = openConsole(other)
  await viewer.signIn((await other.signInAs('editor')).email)
  assert.equal((await viewer.open('/console/collections/new')).status, 403)

  const production = await startApiWithRoles(t, { config, env: { NODE_ENV: 'production' } })
  const there = openConsole(production)
  await there.signIn((await production.signInAs('admin')).email)
  assert.equal((await there.open('/console/collections/new')).status, 404)
  assert.doesNotMatch((await there.open('/console/account')).html, /console\/collections/)
})
