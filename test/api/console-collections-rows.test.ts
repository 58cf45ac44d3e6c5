/** Rows of a collection in the console: edited in the list, together, and without losing what was typed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService, unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { type Helpdesk, startHelpdesk } from '../support/helpdesk.ts'

const list = '/console/tickets'

onAnyEngine('rows of a collection in the console', (engine) => {
  const shared = shareService((t) => startHelpdesk(t, engine, { env: unlimitedRates }), {})

  async function enter(api: Helpdesk, person: 'ada' | 'grace' | 'chief') {
    const browser = openConsole(api)
    await browser.signIn(api[person].email)
    return browser
  }

  let teams = 0
  async function start() {
    const api = await shared()
    teams += 1
    const team = { name: `Team ${teams} ${engine}`, members: [api.ada.id] }
    const id: number = (await api.post('/api/teams', team, api.chief.access)).body.data.id
    const create = async (values: object, person: 'ada' | 'chief' = 'chief'): Promise<number> =>
      (await api.post('/api/tickets', { team: id, ...values }, api[person].access)).body.data.id
    const read = async (ticket: number) =>
      (await api.get(`/api/tickets/${ticket}`, api.chief.access)).body.data.attributes
    return { api, team: id, create, read, query: `${list}?filter[team]=${id}` }
  }

  test('are edited in the list, which stays as it is, and nothing that others saved is overwritten', async () => {
    const { api, team, create, read, query } = await start()
    const id = await create({ title: 'Inline' })
    const browser = await enter(api, 'chief')
    const page = await browser.open(query)
    const [, address = ''] = /<a class="edit" href="([^"]*)"[^>]*data-edit="priority">3</.exec(page.html) ?? []
    const form = await browser.open(address.replaceAll('&#38;', '&'))
    assert.match(form.html, /name="priority" value="3" aria-label="Priority of Inline"/)
    assert.match(form.html, /<select form="edit-\d+" name="status" aria-label="Status of Inline">/)
    const saved = await browser.submit(`${list}/${id}/quick`, { priority: '5', status: 'closed' })
    assert.deepEqual([saved.status, saved.notice], [303, 'tickets-saved'])
    assert.equal(saved.location, `${list}?filter%5Bteam%5D=${team}`)
    const { priority, status, title } = await read(id)
    assert.deepEqual([priority, status, title], [5, 'closed', 'Inline'])

    await browser.open(`${query}&edit=${id}`)
    const wrong = await browser.submit(`${list}/${id}/quick`, { priority: '9', status: 'open' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Priority: Must be at most 5\./)
    assert.match(wrong.html, /name="priority" value="9"[^>]* aria-invalid="true"/)
    assert.match(wrong.html, /<option value="open" selected>/)
    await api.request('PATCH', `/api/tickets/${id}`, { json: { priority: 1 }, token: api.chief.access })
    const late = await browser.submit(`${list}/${id}/quick`, { priority: '4' })
    assert.equal(late.status, 412)
    assert.match(late.text, /Someone else changed this while you were editing: Priority is now 1\. Save again/)
    assert.equal((await browser.submit(`${list}/${id}/quick`, { priority: '4' })).status, 303)
    assert.equal((await read(id)).priority, 4)

    await browser.open(`${query}&edit=${id}`)
    await api.delete(`/api/tickets/${id}`, api.chief.access)
    const gone = await browser.submit(`${list}/${id}/quick`, { priority: '2' })
    assert.equal(gone.status, 404)
    assert.match(gone.text, /“Inline” has been deleted meanwhile, so nothing is saved\. You typed: .*priority 2/)
    assert.equal((await browser.submit(`${list}/${id}/restore`)).status, 303)
  })

  test('are offered for editing only to those who may change some', async () => {
    const { api, create, query } = await start()
    const id = await create({ title: 'Not mine' })
    const ada = await enter(api, 'ada')
    assert.match((await ada.open(query)).html, /class="edit"/)
    await ada.open(`${query}&edit=${id}`)
    const refused = await ada.submit(`${list}/${id}/quick`, { priority: '1' })
    assert.equal(refused.status, 403)
    assert.match(refused.text, /Forbidden/)
    assert.match(refused.html, /name="priority" value="1"/)
    const grace = await enter(api, 'grace')
    const form = await ada.open(`${query}&edit=${id}`)
    const { _tag = '' } = form.hidden(`${list}/${id}/quick`)
    const { _token = '' } = (await grace.open(`${list}/new`)).hidden(list)
    const hidden = await grace.post(`${list}/${id}/quick`, { _token, _tag, priority: '1' })
    assert.equal(hidden.status, 404)
    assert.doesNotMatch(hidden.text, /Not mine/)
    assert.match(hidden.text, /This ticket has been deleted meanwhile/)
  })

  test('keep what was typed if they were changed or deleted meanwhile', async () => {
    const { api, team, create, read } = await start()
    const id = await create({ title: 'Contested', body: 'One\nTwo', tags: ['a', 'b'] })
    const browser = await enter(api, 'chief')
    await browser.open(`${list}/${id}`)
    await api.request('PATCH', `/api/tickets/${id}`, { json: { title: 'Theirs' }, token: api.chief.access })
    const sent = { title: 'Mine', body: 'One\r\nTwo', tags: 'a\r\nb' }
    const conflict = await browser.submit(`${list}/${id}`, sent)
    assert.equal(conflict.status, 412)
    assert.match(conflict.text, /Field Yours Saved now Title Mine Theirs/)
    assert.doesNotMatch(conflict.text, /Body One Two/)
    assert.match(conflict.html, /value="Mine"/)
    const wrong = await browser.submit(`${list}/${id}`, { ...sent, team: '9999' })
    assert.match(wrong.text, /Team .*Does not exist\./)
    assert.match(wrong.html, /value="9999"/)
    assert.equal((await browser.submit(`${list}/${id}`, { ...sent, team: String(team) })).status, 303)
    const { title, body, tags } = await read(id)
    assert.deepEqual([title, body, tags], ['Mine', 'One\nTwo', ['a', 'b']])

    await browser.open(`${list}/${id}`)
    await api.delete(`/api/tickets/${id}`, api.chief.access)
    const lost = await browser.submit(`${list}/${id}`, { title: 'Still typed', body: 'Long\r\ntext' })
    assert.equal(lost.status, 404)
    assert.match(lost.text, /has been deleted, or you can no longer see it/)
    assert.match(lost.html, /value="Still typed"/)
    assert.match(
      (await browser.follow(await browser.submit(list, { title: 'Still typed', team: String(team) }))).text,
      /Ticket created/,
    )

    const deleted = await browser.open(`${list}/${id}`)
    assert.equal(deleted.status, 404)
    assert.match(deleted.text, /Mine Ticket deleted/)
    assert.equal((await (await enter(api, 'grace')).open(`${list}/${id}`)).text.includes('Mine'), false)
    const back = await browser.open(`${list}/${id}`).then(() => browser.submit(`${list}/${id}/restore`))
    assert.match((await browser.follow(back)).text, /Ticket restored.*Restored by/)
    assert.match((await browser.open(`${list}/${id}/history`)).text, /History of “Mine” Restored .*Deleted .*Created/)
  })

  test('write only what was changed in the form', async () => {
    const { api, create, read } = await start()
    const id = await create({ title: 'Untouched', tags: [' spaced '], cost: 0.1 }, 'chief')
    const browser = await enter(api, 'chief')
    const page = await browser.open(`${list}/${id}`)
    assert.match(page.text, /Tags Too long to edit here/)
    await browser.submit(`${list}/${id}`, { title: 'Touched' })
    const { title, tags, cost } = await read(id)
    assert.deepEqual([title, tags, cost], ['Touched', [' spaced '], 0.1])
    const { body } = await api.get(`/api/tickets/${id}/versions`, api.chief.access)
    assert.deepEqual(body.data[0].changes, { title: ['Untouched', 'Touched'] })
  })

  test('are changed together to a value that is asked for, and deleted together with an undo', async () => {
    const { api, create, read, query } = await start()
    const ids = [await create({ title: 'First' }), await create({ title: 'Second' })]
    const browser = await enter(api, 'chief')
    const page = await browser.open(query)
    const pick = [...page.html.matchAll(/name="pick" value="([^"]*)"/g)].map(([, value = '']) => value)
    assert.deepEqual(pick.map((each) => Number(each.split(':')[0])).sort(), [...ids].sort())
    const bulk = `${list}/bulk`
    const asked = await browser.submit(bulk, { action: 'set:priority', pick })
    assert.match(asked.text, /Set Priority of 2 tickets First, Second/)
    const sent = { action: 'set:priority', pick, step: 'confirmed' }
    const wrong = await browser.submit(bulk, { ...sent, _value: '9' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Must be at most 5\./)
    assert.match(wrong.html, /value="9"/)
    await api.request('PATCH', `/api/tickets/${ids[0]}`, { json: { title: 'First!' }, token: api.chief.access })
    const set = await browser.submit(bulk, { ...sent, _value: '2' })
    assert.match(set.text, /1 ticket updated Not changed First! : Ticket has changed/)
    assert.deepEqual([(await read(ids[0] as number)).priority, (await read(ids[1] as number)).priority], [3, 2])

    await browser.open(query)
    const deleted = await browser.submit(bulk, { action: 'delete', pick: ids.map(String) })
    assert.match(deleted.text, /2 tickets deleted/)
    const undone = await browser.submit(bulk, { pick: ids.map(String) })
    assert.match(undone.text, /2 tickets restored/)
    assert.equal((await read(ids[0] as number)).title, 'First!')
  })

  test('are found for relations by searching, among those that the user may see', async () => {
    const { api, team, create } = await start()
    const id = await create({ title: 'Findable printer' })
    const [ada, grace, chief] = [await enter(api, 'ada'), await enter(api, 'grace'), await enter(api, 'chief')]
    const find = async (browser: typeof ada, address: string) =>
      JSON.parse((await browser.open(`/console/${address}`)).html).data
    const found = { id: team, title: `Team ${teams} ${engine}` }
    assert.deepEqual(await find(ada, `tickets/relations/team?q=${encodeURIComponent(found.title)}`), [found])
    assert.deepEqual(await find(ada, `tickets/relations/team?q=${team}`), [found])
    assert.deepEqual(await find(ada, `tickets/relations/team?id=${team},9999`), [found])
    assert.deepEqual(await find(grace, 'tickets/relations/team?q='), [])
    assert.deepEqual(await find(grace, `tickets/relations/team?id=${team}`), [])
    assert.deepEqual(await find(ada, 'comments/relations/ticket?q=findable'), [{ id, title: 'Findable printer' }])
    assert.deepEqual(await find(grace, 'comments/relations/ticket?q=findable'), [])
    const [, mailbox = ''] = /^([^@]+)@/.exec(api.ada.email) ?? []
    assert.ok(
      (await find(chief, `tickets/relations/assignee?q=${mailbox}`)).some(
        (each: { id: number }) => each.id === api.ada.id,
      ),
    )
    assert.deepEqual(
      await find(ada, `tickets/relations/assignee?q=${mailbox}`),
      [],
      'users are not listed for everyone',
    )
    assert.equal((await ada.open('/console/tickets/relations/title?q=x')).status, 404)
    assert.match((await openConsole(api).open('/console/tickets/relations/team?q=')).location ?? '', /sign-in/)
    const form = await ada.open(`${list}/new`)
    assert.match(form.html, /name="team"[^>]* data-relation="\/console\/tickets\/relations\/team"/)
  })
})
