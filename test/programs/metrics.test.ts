/** The metrics, as Prometheus reads them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { onEachEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { getProgram } from '../support/programs.ts'

onEachEngine('metrics', (engine) => {
  test("pass Prometheus's own check of names, units, types and help, after some traffic", async (t) => {
    const api = await startApi(t, { engine })
    const { access } = await signIn(api)
    await api.post('/api/auth/login', { email: 'nobody@example.com', password: 'wrong' })
    await api.post('/api/v2/products', { name: 'Lamp', description: 'Bright', price: 1 }, access)
    await api.get('/api/v2/products?q=lamp')
    await api.post('/graphql', { query: '{ posts { id } nope }' })
    await api.get('/nowhere')
    const { body } = await api.get('/metrics')
    assert.match(body, /^# TYPE http_request_duration_seconds histogram$/m)
    const promtool = getProgram('promtool')
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: body, encoding: 'utf8' })
    assert.deepEqual([status, stdout + stderr], [0, ''])
  })
})
