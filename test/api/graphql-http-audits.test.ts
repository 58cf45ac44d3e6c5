/** The audits that the authors of the GraphQL-over-HTTP specification wrote for servers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverAudits } from 'graphql-http'
import { startApi } from '../support/api.ts'

test('every MUST, SHOULD and MAY of the specification is met', async (t) => {
  const { url } = await startApi(t)
  const audits = serverAudits({ url: `${url}/graphql`, fetchFn: fetch })
  assert.ok(audits.length > 50)
  const results = await Promise.all(audits.map(async (audit) => ({ name: audit.name, result: await audit.fn() })))
  assert.deepEqual(
    results.flatMap(({ name, result }) => (result.status === 'ok' ? [] : [`${name}: ${result.reason}`])),
    [],
  )
})
