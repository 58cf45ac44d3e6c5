/** Webhooks and their deliveries, sorted and filtered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

const path = '/console/webhooks'
/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:65009/hooks'

onAnyEngine('lists of webhooks', (engine) => {
  test('by state and URL, and deliveries by outcome, in REST and in the console', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const { email, access } = await api.signInAs('admin')
    const browser = openConsole(api)
    await browser.signIn(email)
    const receiver = await startReceiver(t)
    const make = async (url: string) =>
      (await api.post('/api/admin/webhooks', { url, types: ['product.created'] }, access)).body.data.id as number
    const first = await make(receiver.url)
    const off = await make('http://127.0.0.1:65009/b')
    const failing = await make('http://127.0.0.1:65009/a')
    await api.put(`/api/admin/webhooks/${off}`, { enabled: false }, access)
    await api.db.write({
      sql: 'UPDATE webhooks SET failing_since = $1, next_attempt_at = $2 WHERE id = $3',
      params: [api.clock.now(), api.clock.now() + 3_600_000, failing],
    })
    const shown = async (query: string) =>
      [...(await browser.open(`${path}${query}`)).html.matchAll(/class="title"><a href="[^"]*\/(\d+)"/g)].map(
        ([, id]) => Number(id),
      )
    assert.deepEqual(await shown(''), [first, off, failing])
    assert.deepEqual(await shown('?sort=-created_at'), [failing, off, first])
    assert.deepEqual(
      await shown('?sort=url&filter%5Bstatus%5D='),
      receiver.url < nowhere ? [first, failing, off] : [failing, off, first],
    )
    assert.deepEqual(await shown('?filter%5Bstatus%5D=on'), [first])
    assert.deepEqual(await shown('?filter%5Bstatus%5D=failing'), [failing])
    assert.deepEqual(await shown('?filter%5Bstatus%5D=off'), [off])
    assert.equal((await browser.open(`${path}?filter%5Bstatus%5D=x`)).status, 422)
    await api.put(`/api/admin/webhooks/${off}`, { enabled: true }, access)
    assert.match(
      (await browser.open(`${path}?filter%5Bstatus%5D=off`)).text,
      /Nothing found No webhook is in this state/,
    )

    const sent = `/api/admin/webhooks/${first}`
    const delivered = (await api.post(`${sent}/test`, {}, access)).body.data
    await api.put(sent, { url: nowhere }, access)
    const failed = [
      (await api.post(`${sent}/test`, {}, access)).body.data,
      (await api.post(`${sent}/test`, {}, access)).body.data,
    ]
    const listed = async (query: string) =>
      (await api.get(`${sent}/deliveries?${query}`, access)).body.data.map(({ id }: { id: number }) => id)
    assert.deepEqual(await listed(''), [failed[1].id, failed[0].id, delivered.id])
    assert.deepEqual(await listed('filter[status]=failed'), [failed[1].id, failed[0].id])
    assert.deepEqual(await listed(`filter[status]=failed&before=${failed[1].id}`), [failed[0].id])
    assert.deepEqual(await listed('filter[status]=delivered'), [delivered.id])
    const { status, body } = await api.get(`${sent}/deliveries?filter[status]=lost`, access)
    assert.deepEqual([status, body.details], [422, { 'filter[status]': ['Must be one of delivered, failed'] }])
    const page = await browser.open(`${path}/${first}?filter%5Bstatus%5D=failed`)
    assert.ok(
      page.html.includes(`id="delivery-${failed[0].id}"`) && !page.html.includes(`id="delivery-${delivered.id}"`),
    )
    assert.match(page.html, /<option value="failed" selected>/)
  })
})
