/** The OpenAPI document describes collections as they are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { resolveResponse } from '../../src/platform/openapi/document.ts'
import type { ClientResponse, RequestOptions } from '../../src/testing/client.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { temporaryFolder } from '../support/databases.ts'
import { loadHelpdesk } from '../support/helpdesk.ts'
import { makeKey } from '../support/keys.ts'
import { examplesOf, problemsOf, responseProblems, startDescribedApi } from '../support/openapi-document.ts'
import { declareWorkshop } from '../support/workshop.ts'

const shared = share(async (owner) => {
  const extensions = [...(await loadHelpdesk(owner)), ...declareWorkshop(temporaryFolder(owner))]
  const api = await startDescribedApi(owner, { env: unlimitedRates, extensions })
  const isOwn = ({ path }: { path: string }) =>
    !/^\/(api\/(auth|admin|v2|posts)|me$|health|metrics|\.well-known)/.test(path)
  return { ...api, operations: api.operations.filter(isOwn) }
})

test('collections are described in valid OpenAPI 3.1, in which no rule finds a problem', async () => {
  const { document, operations } = await shared()
  assert.ok(operations.length > 80)
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) })
  assert.ok(valid, JSON.stringify(errors, null, 2))
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  assert.deepEqual(
    problems.map(({ severity, ruleId, message, location }) => [severity, ruleId, message, location[0]?.pointer]),
    [],
  )
})

test('examples of responses are as described, and so are the errors that every operation may have', async () => {
  const { document, operations } = await shared()
  for (const { name, operation, path } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      for (const media of Object.values(resolveResponse(document, response).content ?? {})) {
        const examples = examplesOf(media)
        assert.ok(examples.length > 0, `${name} ${status}`)
        for (const example of examples)
          assert.deepEqual(problemsOf(document, media.schema, example), [], `${name} ${status}`)
      }
    }
    const expected = [
      ...(operation.security.length > 0 ? ['401', '403'] : []),
      ...(path.includes('{') ? ['404'] : []),
      ...(operation.requestBody ? ['413', '415', '422'] : []),
    ]
    const missing = expected.filter((status) => !(status in operation.responses))
    assert.deepEqual(missing, [], name)
  }
})

test('examples of requests create and change rows', async () => {
  const api = await shared()
  const { access } = await api.signInAs('admin')
  for (const { name, method, path, operation } of api.operations) {
    const json = operation.requestBody?.content['application/json']
    if (!json || path === '/api/batch') continue
    assert.deepEqual(problemsOf(api.document, json.schema, json.example), [], name)
    const response = await api.request(method, path.replace('{id}', '1'), { token: access, json: json.example })
    assert.equal(response.status, method === 'POST' ? 201 : 200, `${name} ${JSON.stringify(response.body)}`)
    assert.deepEqual(responseProblems(api.document, { method, path }, response), [], name)
  }
})

test('responses of collections match their description, field by field', async () => {
  const api = await shared()
  const [ada, grace] = [await api.signInAs('admin'), await api.signInAs('user')]
  const limited = (await makeKey(api, grace.access, { permissions: [] })).key
  const send = async (method: string, path: string, status: number, options: RequestOptions = {}) => {
    const response = await api.request(method, path, { token: ada.access, ...options })
    assert.equal(response.status, status, `${method} ${path} ${JSON.stringify(response.body)}`)
    const [bare = ''] = path.replace(/\/\d+/, '/{id}').split('?')
    assert.deepEqual(responseProblems(api.document, { method, path: bare }, response), [], `${method} ${path}`)
    return response
  }
  const idOf = ({ body }: ClientResponse) => body.data.id as number
  const stale = { 'if-match': '"0-x"' }
  const maker = idOf(await send('POST', '/api/makers', 201, { json: { name: 'Described' } }))
  const full = {
    name: 'Bolt',
    code: 'described',
    maker,
    cost: 1.5,
    weight: -1,
    due: '2026-02-02',
    tags: ['a'],
    data: [1],
  }
  const part = idOf(await send('POST', '/api/parts', 201, { json: full }))
  const path = `/api/parts/${part}`
  await send('POST', '/api/parts', 422, { json: full })
  await send('POST', '/api/parts', 422, { json: { maker: 999_999 } })
  await send('POST', '/api/parts', 401, { json: full, token: undefined })
  await send('POST', '/api/parts', 403, { json: full, token: limited })
  const review = idOf(await send('POST', '/api/reviews', 201, { json: { part, text: 'Good', about: maker } }))
  await send('GET', '/api/parts?include=maker.parts,reviews.author,owner,helpers&count=exact', 200)
  await send('GET', '/api/parts?sort=x&filter[x]=1', 422)
  await send('GET', '/api/parts?fields=name', 200)
  await send('GET', '/api/parts?filter[cost]=1', 403, { token: grace.access })
  await send('GET', `${path}?include=maker&fields=name`, 200)
  await send('GET', `${path}?include=x`, 422)
  await send('GET', path, 404, { token: grace.access })
  await send('GET', path, 401, { token: undefined })
  for (const method of ['PATCH', 'PUT']) {
    await send(method, path, 200, { json: { grade: 'a', code: null } })
    await send(method, path, 422, { json: { grade: 'x' } })
    await send(method, path, 412, { json: { grade: 'a' }, headers: stale })
    await send(method, path, 403, { json: { origin: 'Essen' } })
    await send(method, path, 404, { json: {}, token: grace.access })
  }
  await send('GET', `${path}/versions`, 200)
  await send('GET', '/api/parts/changes?after=0', 200)
  await send('GET', '/api/parts/changes?after=x', 422)
  await send('DELETE', `/api/makers/${maker}`, 409)
  await send('DELETE', path, 412, { headers: stale })
  await send('DELETE', path, 204)
  await send('POST', `/api/reviews/${review}/restore`, 422)
  await send('POST', `${path}/restore`, 200)
  await send('POST', `${path}/restore`, 404, { token: grace.access })
  await send('POST', '/api/tallies', 409, { json: { name: 'Forbidden' } })
  const operation = { method: 'PATCH', path, body: { grade: 'b' } }
  await send('POST', '/api/batch', 200, { json: { operations: [operation] } })
  const rejected: [status: number, changes: object, token?: string][] = [
    [404, { path: '/api/parts/999999' }],
    [412, { if_match: '"0-x"' }],
    [422, { body: { grade: 'x' } }],
    [422, { method: 'GET' }],
    [403, { body: { origin: 'Essen' } }],
    [409, { method: 'DELETE', path: `/api/makers/${maker}` }],
  ]
  for (const [status, changes] of rejected)
    await send('POST', '/api/batch', status, { json: { operations: [{ ...operation, ...changes }] } })
})
