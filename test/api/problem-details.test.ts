/** Errors in the RFC 9457 format, on request. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { shareApi } from '../support/api.ts'
import { blocksOf } from '../support/docs.ts'
import { signIn } from '../support/people.ts'
import { lamp, productsPath } from '../support/products.ts'

const problem = 'application/problem+json'
const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8')

const shared = shareApi()

test('are sent only to clients that accept the type', async () => {
  const api = await shared()
  for (const [accept, isProblem] of [
    [problem, true],
    [`application/json, ${problem}`, true],
    ['Application/Problem+JSON', true],
    [`application/json, ${problem};q=0.5`, true],
    [`${problem};q=0`, false],
    [`${problem}; q=0.000, */*`, false],
    ['application/json', false],
    ['*/*', false],
    ['application/*', false],
    ['application/problem+jsonx', false],
  ] as const) {
    const { status, headers, body } = await api.request('GET', '/nowhere', { headers: { accept } })
    assert.equal(status, 404)
    const type = headers.get('content-type')?.split(';')[0]
    assert.equal(type, isProblem ? problem : 'application/json', accept)
    if (!isProblem) assert.deepEqual(body, { error: 'Not found' })
    else {
      const text = 'Not found'
      const type = 'urn:latchkey:error:not_found'
      assert.deepEqual(body, { type, title: text, status: 404, detail: text, code: 'not_found' })
    }
  }
})

test('have the code, errors by pointer, and the other fields of the error', async () => {
  const api = await shared()
  const { access: token, email } = await signIn(api)
  const headers = { accept: problem }
  const wrong = await api.request('POST', productsPath, { json: { ...lamp, price: 0 }, token, headers })
  const [plain, told] = blocksOf(page, 'json').map((block) => JSON.parse(block))
  assert.deepEqual([wrong.status, wrong.body], [422, told])
  const usual = await api.post(productsPath, { ...lamp, price: 0 }, token)
  assert.deepEqual(usual.body, plain)
  const refused = await api.request('GET', '/me', { headers })
  assert.deepEqual([refused.status, refused.body.code], [401, 'missing_access_token'])
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
  for (let i = 0; i < 6; i++) {
    const json = { email, password: 'wrong' }
    const { status, body } = await api.request('POST', '/api/auth/login', { json, headers })
    if (status === 423) {
      assert.equal(body.code, 'account_locked')
      assert.ok(body.locked_until > 0)
      return
    }
    assert.deepEqual([status, body.code], [401, 'invalid_credentials'])
  }
  assert.fail('the account was never locked')
})
