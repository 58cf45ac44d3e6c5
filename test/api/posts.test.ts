import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { startApiWithRoles } from '../support/roles.ts'

onAnyEngine('posts', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('are created by signed-in users and visible to everyone', async () => {
    const api = await shared()
    assert.equal((await api.post('/api/posts', { title: 'x', body: 'y' })).status, 401)
    const user = await api.signInAs()
    const made = await api.post('/api/posts', { title: 'Hello', body: 'World' }, user.access)
    assert.equal(made.status, 201)
    const { id } = made.body.data
    assert.ok(Number.isInteger(id) && id > 0)
    assert.deepEqual(made.body, { data: { id, title: 'Hello', body: 'World' } })
    assert.equal(made.headers.get('location'), `/api/posts/${id}`)
    assert.deepEqual((await api.get(`/api/posts/${id}`)).body, made.body)
  })

  test('are changed by editors and admins, deleted by admins', async () => {
    const api = await shared()
    const [nobody, viewer, editor, admin] = [
      await api.signInAs(),
      await api.signInAs('viewer'),
      await api.signInAs('editor'),
      await api.signInAs('admin'),
    ]
    const made = await api.post('/api/posts', { title: 'Hello', body: 'World' }, nobody.access)
    const path = `/api/posts/${made.body.data.id}`
    for (const [user, put, remove] of [
      [undefined, 401, 401],
      [nobody, 403, 403],
      [viewer, 403, 403],
      [editor, 200, 403],
      [admin, 200, 204],
    ] as const) {
      assert.equal((await api.put(path, { title: 'Changed' }, user?.access)).status, put)
      assert.equal((await api.delete(path, user?.access)).status, remove)
    }
    const gone = await api.get(path)
    assert.deepEqual([gone.status, gone.body], [404, { error: 'Not found' }])
  })

  test('keep the fields that an update leaves out', async () => {
    const api = await shared()
    const editor = await api.signInAs('editor')
    const made = await api.post('/api/posts', { title: 'Hello', body: 'World' }, editor.access)
    const { id } = made.body.data
    const response = await api.put(`/api/posts/${id}`, { body: '', title: null }, editor.access)
    assert.deepEqual(response.body, { data: { id, title: 'Hello', body: '' } })
  })

  test('are checked: 401 before 403 before 404 before 422', async () => {
    const api = await shared()
    const editor = await api.signInAs('editor')
    const long = await api.post('/api/posts', { title: 'x'.repeat(256), body: 'y'.repeat(65_537) }, editor.access)
    assert.deepEqual(
      [long.status, long.body.details],
      [422, { title: ['Must be at most 255 characters'], body: ['Must be at most 65536 characters'] }],
    )
    const blank = await api.post('/api/posts', { title: ' ', body: 5 }, editor.access)
    assert.deepEqual(blank.body.details, { title: ['Must not be blank'], body: ['Must be a string'] })
    const broken = await api.post('/api/posts', { title: 'x', body: 'a\0b' }, editor.access)
    assert.deepEqual([broken.status, broken.body.details], [422, { body: ['Must be valid text'] }])
    assert.equal((await api.put('/api/posts/999999', { title: 5 })).status, 401)
    assert.equal((await api.put('/api/posts/999999', { title: 5 }, editor.access)).status, 404)
    const made = await api.post('/api/posts', { title: 'x', body: '' }, editor.access)
    assert.equal((await api.put(`/api/posts/${made.body.data.id}`, { title: '' }, editor.access)).status, 422)
    for (const id of ['0', '-1', 'x', '1.5', '99999999999999999999', '9007199254740993']) {
      assert.equal((await api.get(`/api/posts/${id}`)).status, 404, id)
    }
  })
})
