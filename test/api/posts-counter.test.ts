import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counterTopic } from '../../src/features/posts/posts.graphql.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { many } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

onAnyEngine('counter', (engine) => {
  test('publishes the number of posts after each new one, in order and once each, even under parallel creates', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const { access } = await api.signInAs()
    const counts: number[] = []
    await api.parts.topics.subscribe(counterTopic, (value) => void counts.push((value as { count: number }).count))
    const rounds = amount({ full: 4, otherwise: 2 })
    const perRound = 30
    const ids: number[] = []
    for (let round = 0; round < rounds; round++) {
      const made = await many(perRound, async (i) => {
        if (i % 3 === 0) {
          const { body } = await send(api, 'mutation { createPost(title: "A", body: "B") }')
          assert.equal(body.errors, undefined, JSON.stringify(body))
          return body.data.createPost as number
        }
        const { status, body } = await api.post('/api/posts', { title: `Title ${i}`, body: 'B' }, access)
        assert.equal(status, 201, JSON.stringify(body))
        assert.equal(body.data.title, `Title ${i}`)
        return body.data.id as number
      })
      ids.push(...made)
    }
    const all = rounds * perRound
    await eventually(() => assert.equal(counts.length, all))
    assert.deepEqual(
      counts,
      Array.from({ length: all }, (_, i) => i + 1),
    )
    assert.equal(new Set(ids).size, all)
  })

  test('publishes no number twice if several nodes create posts', async (t) => {
    const first = await startApiWithRoles(t, { engine })
    const second = await startApiWithRoles(t, { engine, env: { DATABASE_URL: first.databaseUrl } })
    const counts: number[] = []
    for (const { parts } of [first, second]) {
      await parts.topics.subscribe(counterTopic, (value) => void counts.push((value as { count: number }).count))
    }
    const { access } = await first.signInAs()
    const rounds = amount({ full: 30, otherwise: 12 })
    const perRound = 4
    // A few at a time: many at once would be written in one batch, and the nodes would hardly conflict.
    for (let round = 0; round < rounds; round++) {
      await many(perRound, async (i) => {
        const { status } = await (i % 2 ? first : second).post('/api/posts', { title: 'A', body: 'B' }, access)
        assert.equal(status, 201)
      })
    }
    assert.deepEqual(
      counts.toSorted((a, b) => a - b),
      Array.from({ length: rounds * perRound }, (_, i) => i + 1),
    )
  })
})
