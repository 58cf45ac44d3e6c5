/** Third-party clients. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, fetchExchange } from '@urql/core'
import { createClient } from 'graphql-sse'
import { shareApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'

const create = 'mutation ($title: String!) { createPost(title: $title, body: "b") }'
const list = 'query ($n: Int) { posts(limit: $n) { id title } }'

onAnyEngine('clients', (engine) => {
  const shared = shareApi({ engine })

  test('urql queries and mutates, over POST and GET, and receives errors', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const preferGetMethod of [false, 'force'] as const) {
      const client = new Client({
        url: `${api.url}/graphql`,
        exchanges: [fetchExchange],
        preferGetMethod,
        fetchOptions: { headers: { authorization: `Bearer ${access}` } },
      })
      const made = await client.mutation(create, { title: 'urql' }).toPromise()
      assert.equal(made.error, undefined)
      assert.ok(made.data.createPost > 0)
      const listed = await client.query(list, { n: 1 }).toPromise()
      assert.equal(listed.error, undefined)
      assert.deepEqual(listed.data.posts[0].title, 'urql')
      const wrong = await client.query('{ post(id: 999) { id } }', {}).toPromise()
      assert.equal(wrong.error?.graphQLErrors[0]?.extensions.code, 'NOT_FOUND')
      const invalid = await client.query('{ unknown }', {}).toPromise()
      assert.equal(invalid.error?.graphQLErrors[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED')
      const me = await client.query('{ me { name } }', {}).toPromise()
      assert.equal(me.data.me.name, 'Ada')
    }
  })

  test('urql subscribes over an event stream', async (t) => {
    const api = await shared()
    const client = new Client({
      url: `${api.url}/graphql`,
      exchanges: [fetchExchange],
      fetchSubscriptions: true,
      preferGetMethod: false,
    })
    const seen: unknown[] = []
    const { unsubscribe } = client
      .subscription('subscription { counter { count } }', {})
      .subscribe((result) => void seen.push(result.error ?? result.data.counter.count))
    t.after(unsubscribe)
    // The client cannot tell when it is subscribed.
    await eventually(async () => {
      await client.mutation(create, { title: 'urql' }).toPromise()
      assert.ok(seen.length > 0)
    })
    assert.ok(
      seen.every((count) => typeof count === 'number'),
      String(seen),
    )
  })

  test('the client of graphql-sse queries, mutates and subscribes', async (t) => {
    const api = await shared()
    const client = createClient({ url: `${api.url}/graphql`, retryAttempts: 0 })
    t.after(() => client.dispose())
    const seen: unknown[] = []
    const values = client.iterate({ query: 'subscription { counter { count } }' })
    const reading = (async () => {
      for await (const value of values) {
        seen.push(value)
        if (seen.length === 3) break
      }
    })()
    for (let i = 0; seen.length < 3 && i < 200; i++) {
      const results: unknown[] = []
      for await (const result of client.iterate({ query: create, variables: { title: 'sse' } })) results.push(result)
      assert.equal(results.length, 1)
    }
    await reading
    const counts = seen.map((value) => (value as { data: { counter: { count: number } } }).data.counter.count)
    assert.deepEqual(counts, [counts[0], Number(counts[0]) + 1, Number(counts[0]) + 2])
    const listed: unknown[] = []
    for await (const result of client.iterate({ query: list, variables: { n: 1 } })) listed.push(result)
    const { data } = (await send(api, list, { variables: { n: 1 } })).body
    assert.deepEqual(listed, [{ data }])
    const refused: { errors?: readonly { message: string }[] }[] = []
    for await (const result of client.iterate({ query: '{ unknown }' }))
      refused.push(result as (typeof refused)[number])
    assert.match(String(refused[0]?.errors?.[0]?.message), /Cannot query field "unknown"/)
  })
})
