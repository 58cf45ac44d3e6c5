/** Whose a key is, what becomes of it with its owner, and what it leaves behind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auth } from '../../src/features/auth/auth.feature.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { makeKey, withTypo } from '../support/keys.ts'
import { again, password, signIn } from '../support/people.ts'
import { shareWithRoles, startApiWithRoles } from '../support/roles.ts'

onAnyEngine('an API key', (engine) => {
  const { shared, withRoles } = shareWithRoles({ engine })

  test('is known to its owner alone', async () => {
    const api = await shared()
    const [user, other] = [await signIn(api), await signIn(api, 'other@example.com')]
    const { id, key } = await makeKey(api, user.access)
    assert.deepEqual((await api.get('/api/auth/keys', other.access)).body, { data: [] })
    for (const path of [id, 'unknown', '..%2fkeys', 'a'.repeat(65), '%00']) {
      const answer = await api.delete(`/api/auth/keys/${path}`, other.access)
      assert.deepEqual([answer.status, answer.body], [404, { error: 'Not found' }])
    }
    assert.equal((await api.get('/me', key)).status, 200)
    assert.equal((await api.get('/api/auth/keys')).status, 401)
  })

  test('outlives a changed password and a sign-out everywhere, and is not made by a session that has ended', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { key } = await makeKey(api, user.access)
    const body = { current_password: password, new_password: password }
    assert.equal((await api.post('/api/auth/password', body, user.access)).status, 200)
    const { access } = await again(api, user)
    await api.post('/api/auth/logout', { all_devices: true }, access)
    assert.equal((await api.get('/me', key)).status, 200)
    const refused = await api.post('/api/auth/keys', { name: 'n' }, access)
    assert.deepEqual([refused.status, refused.body], [401, { error: 'Invalid access token' }])
  })

  test('is gone for good with a disabled owner, and with a deleted one', async () => {
    const api = await withRoles()
    const [user, other] = [await signIn(api), await signIn(api)]
    const { key } = await makeKey(api, user.access)
    const { key: otherKey } = await makeKey(api, other.access)
    const setDisabled = (at: string | null) =>
      api.db.write({ sql: 'UPDATE users SET disabled_at = $1 WHERE id = $2', params: [at, user.id] })
    await setDisabled(api.clock.nowIso())
    assert.equal((await api.get('/me', key)).status, 401)
    await setDisabled(null)
    assert.equal((await api.get('/me', key)).status, 401)
    await api.db.write({ sql: 'DELETE FROM users WHERE id = $1', params: [user.id] })
    assert.equal((await api.get('/me', key)).status, 401)
    const left = await api.db.all<{ user_id: number }>('SELECT user_id FROM api_keys WHERE user_id IN ($1, $2)', [
      user.id,
      other.id,
    ])
    assert.deepEqual(left, [{ user_id: other.id }])
    assert.equal((await api.get('/me', otherKey)).status, 200)
  })

  test('goes with everything else that lets a user in, where that is taken away', async (t) => {
    const taking = defineFeature({
      name: 'taking',
      needs: { auth },
      create: ({ db }, needs) => ({
        take: (id: number) => db.write(...needs.auth.credentials.removeAll(id)),
      }),
      routes: (service) => (app) => {
        app.post<{ Params: { id: string } }>(
          '/take/:id',
          { config: { access: 'public', docs: false } },
          async (request) => void (await service.take(Number(request.params.id))),
        )
      },
    })
    const api = await startApi(t, { engine, extensions: [taking] })
    const [user, other] = [await signIn(api), await signIn(api, 'other@example.com')]
    const [{ key }, { key: otherKey }] = [await makeKey(api, user.access), await makeKey(api, other.access)]
    await api.post(`/take/${user.id}`)
    assert.equal((await api.get('/me', key)).status, 401)
    assert.equal((await api.get('/me', otherKey)).status, 200)
  })

  test('is in the audit trail when it is made and when it is ended', async () => {
    const api = await withRoles()
    const admin = await api.signInAs('admin')
    const user = await signIn(api, 'owner@example.com')
    const one = await makeKey(api, user.access, { name: 'One' })
    await api.delete(`/api/auth/keys/${one.id}`, user.access)
    const two = await makeKey(api, user.access, { name: 'Two' })
    await api.delete(`/api/admin/users/${user.id}/keys/${two.id}`, admin.access)
    const { data } = (await api.get('/api/admin/audit?per_page=100', admin.access)).body
    const entries = data
      .filter(
        (entry: Record<string, unknown>) => entry.user_id === user.id && String(entry.event).startsWith('api_key'),
      )
      .map(({ event, outcome, user_id, actor_id, changes }: Record<string, unknown>) => [
        event,
        outcome,
        user_id,
        actor_id,
        changes,
      ])
    const made = (id: string, name: string) => ({
      api_key: { from: null, to: id },
      api_key_name: { from: null, to: name },
    })
    const ended = (id: string, name: string) => ({
      api_key: { from: id, to: null },
      api_key_name: { from: name, to: null },
    })
    assert.deepEqual(entries, [
      ['api_key_ended', 'success', user.id, admin.id, ended(two.id, 'Two')],
      ['api_key_created', 'success', user.id, user.id, made(two.id, 'Two')],
      ['api_key_ended', 'success', user.id, user.id, ended(one.id, 'One')],
      ['api_key_created', 'success', user.id, user.id, made(one.id, 'One')],
    ])
  })

  test('leaves nothing in the database or the log that lets anybody use it', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: { LOG_LEVEL: 'debug' } })
    const user = await api.signInAs('admin')
    const { id, key } = await makeKey(api, user.access, { permissions: ['users.*'] })
    await api.get('/me', key)
    await api.get('/api/admin/users', key)
    await api.post('/api/auth/logout', {}, key)
    await api.get('/me', withTypo(key, 9))
    await api.request('POST', '/graphql', { json: { query: '{ me { id } }' }, token: key })
    await api.request('POST', '/api/posts', { body: '{', headers: { 'content-type': 'application/json' }, token: key })
    await api.delete(`/api/auth/keys/${id}`, user.access)
    const { key: live } = await makeKey(api, user.access)
    await api.get('/me', live)

    const names = await api.db.all<{ name: string }>(
      engine === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    )
    assert.ok(names.some(({ name }) => name === 'api_keys') && names.some(({ name }) => name === 'audit'))
    const dump: string[] = []
    for (const { name } of names) {
      // A table that is kept for searching alone cannot be read by itself.
      const rows = await api.db.all(`SELECT * FROM "${name}"`).catch(() => [])
      dump.push(JSON.stringify(rows))
    }
    const everything = [...dump, ...api.log].join('\n')
    assert.ok(everything.includes('Deploy') && api.log.length > 5)
    assert.ok(
      api.log.some((line) => line.includes(`"keyId":"${id}"`)),
      'the log tells which key it was',
    )
    for (const secret of [key, live]) {
      // Of the random part, no more than the four characters of the hint are in one piece.
      for (let i = 3; i + 8 <= secret.length; i++) assert.ok(!everything.includes(secret.slice(i, i + 8)))
    }
    // What is stored does not sign in either.
    const rows = await api.db.all<{ key_hash: string; id: string; hint: string }>('SELECT * FROM api_keys')
    for (const text of rows.flatMap(({ key_hash, id, hint }) => [key_hash, id, hint, `lk_${key_hash}`])) {
      const answer = await api.request('GET', '/me', { headers: { authorization: `Bearer ${encodeURI(text)}` } })
      assert.equal(answer.status, 401)
    }
  })
})
