import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { engines, startService, type TestServiceOptions } from 'latchkey/testing'
import notes from './index.ts'

async function start(t: TestContext, options: TestServiceOptions) {
  const service = await startService({ extensions: [notes], ...options })
  t.after(() => service.close())
  return service
}

// Both engines with TEST_DATABASE_URL=postgres://…, SQLite alone with TEST_ONLY_SQLITE=1.
for (const engine of engines) {
  describe(`notes, on ${engine}`, () => {
    test('are for who wrote them', async (t) => {
      const service = await start(t, { engine })
      const ada = await service.signIn('ada@example.com')
      const bob = await service.signIn('bob@example.com')
      const { status, body } = await service.post('/api/notes', { text: 'Buy milk' }, ada)
      assert.equal(status, 201)
      assert.equal((await service.get(`/api/notes/${body.data.id}`, ada)).body.data.text, 'Buy milk')
      assert.equal((await service.get(`/api/notes/${body.data.id}`, bob)).status, 403)
      const listed = await service.post('/graphql', { query: '{ notes { text } }' }, ada)
      assert.deepEqual(listed.body.data.notes, [{ text: 'Buy milk' }])
    })

    test('are written in the console, and read by administrators', async (t) => {
      const service = await start(t, { engine })
      await service.signIn('ada@example.com')
      const browser = service.openConsole()
      await browser.signIn('ada@example.com')
      await browser.open('/console/notes')
      // Sends the form of that page, with its token.
      const page = await browser.follow(await browser.submit('/console/notes', { text: 'Buy milk' }))
      assert.match(page.text, /Note added\..* Buy milk/)

      const bob = await service.signIn('bob@example.com')
      await service.setRoles('bob@example.com', 'admin')
      const [note] = await service.serviceOf(notes).list(1)
      assert.equal((await service.get(`/api/notes/${note?.id}`, bob)).body.data.text, 'Buy milk')
    })

    test('are served by two threads', async (t) => {
      // Each thread loads the module by its path.
      const service = await start(t, { engine, extensions: [import.meta.dirname], threads: 2 })
      const ada = await service.signIn()
      const { body } = await service.post('/api/notes', { text: 'Buy milk' }, ada)
      assert.equal((await service.get(`/api/notes/${body.data.id}`, ada)).status, 200)
    })

    test('are as long as the configuration lets them be', async (t) => {
      const service = await start(t, { engine, environment: { NOTES_MAX_LENGTH: '5' } })
      const ada = await service.signIn()
      for (const [text, problem] of [
        [' ', 'Must not be blank'],
        ['too long', 'Must be at most 5 characters'],
      ] as const) {
        const { status, body } = await service.post('/api/notes', { text }, ada)
        assert.deepEqual([status, body.details], [422, { text: [problem] }])
      }
      assert.equal((await service.post('/api/notes', { text: 'short' }, ada)).status, 201)
    })
  })
}
