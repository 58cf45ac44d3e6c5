import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { engines, startService, type TestServiceOptions } from 'latchkey/testing'
import helpdesk from './helpdesk.ts'

async function start(t: TestContext, options: TestServiceOptions) {
  const service = await startService({ extensions: helpdesk, ...options })
  t.after(() => service.close())
  const [ada, bob, eve] = [
    await service.signIn('ada@example.com'),
    await service.signIn('bob@example.com'),
    await service.signIn('eve@example.com'),
  ]
  const idOf = async (token: string) => (await service.get('/me', token)).body.id as number
  return { ...service, ada, bob, eve, idOf }
}

// Both engines with TEST_DATABASE_URL=postgres://…, SQLite alone with TEST_ONLY_SQLITE=1.
for (const engine of engines) {
  describe(`the help desk, on ${engine}`, () => {
    test('shows tickets to their authors and to members of the team', async (t) => {
      const { post, get, request, ada, bob, eve, idOf } = await start(t, { engine })
      const members = [await idOf(bob)]
      const team = (await post('/api/teams', { name: 'Support', members }, ada)).body.data
      const created = await post('/api/tickets', { title: 'The printer burns', team: team.id, tags: ['fire'] }, bob)
      assert.equal(created.status, 201)
      const path = created.headers.get('location') as string
      assert.equal((await get(path, bob)).body.data.attributes.status, 'open')
      assert.equal((await get(path, eve)).status, 404)
      assert.equal((await get('/api/tickets?filter[tags]=fire', eve)).body.meta.total, 0)

      const comment = await post('/api/comments', { ticket: created.body.data.id, text: 'Help!' }, bob)
      assert.equal(comment.status, 201)
      assert.equal((await post('/api/comments', { ticket: created.body.data.id, text: 'Ha' }, eve)).status, 422)
      const listed = await get('/api/tickets?include=team,comments.author&sort=-priority', bob)
      const [{ included }] = listed.body.data
      assert.equal(included.team.attributes.name, 'Support')
      assert.equal(included.comments[0].included.author.attributes.name, '')

      assert.equal((await request('PATCH', path, { json: { status: 'closed' }, token: bob })).status, 200)
      const late = await request('PATCH', path, {
        json: { title: 'It still burns' },
        token: bob,
        headers: { accept: 'application/problem+json' },
      })
      assert.equal(late.status, 403)
      assert.match(late.body.rule, /author is you and status is not closed/)
    })

    test('lets administrators do what their permissions allow', async (t) => {
      const { post, request, delete: remove, ada, bob, setRoles } = await start(t, { engine })
      const team = (await post('/api/teams', { name: 'Support' }, ada)).body.data
      const { id } = (await post('/api/tickets', { title: 'Hello', team: team.id }, ada)).body.data
      assert.equal((await remove(`/api/tickets/${id}`, ada)).status, 403)
      await setRoles('bob@example.com', 'admin')
      const paid = await request('PATCH', `/api/tickets/${id}`, { json: { cost: 12.5 }, token: bob })
      assert.equal(paid.body.data.attributes.cost, 12.5)
      assert.equal((await remove(`/api/teams/${team.id}`, ada)).status, 409)
      assert.equal((await remove(`/api/tickets/${id}`, bob)).status, 204)
      assert.equal((await remove(`/api/teams/${team.id}`, ada)).status, 204)
    })
  })
}
