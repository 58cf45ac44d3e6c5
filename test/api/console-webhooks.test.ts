import assert from 'node:assert/strict'
import { test } from 'node:test'
import { on } from '../../src/platform/events/events.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { createConfig } from '../support/config.ts'
import { type Fields, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { createProduct } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { type Received, startReceiver, verify } from '../support/webhook-receiver.ts'

const path = '/console/webhooks'

/** Has a durable listener, which the page shows too. */
const listening = defineFeature({
  name: 'listening',
  create: () => undefined,
  listeners: () => [on('product.created', { durable: 'search-index' }, () => {})],
})

onAnyEngine('webhooks in the console', (engine) => {
  test('are made, tested, changed, switched off and on, sent again and deleted', async (t) => {
    const api = await startApiWithRoles(t, { engine, extensions: [listening] })
    const { email, access } = await api.signInAs('admin')
    const browser = openConsole(api)
    await browser.signIn(email)
    const submitOn = async (from: string, action: string, fields: Fields = {}) => {
      await browser.open(from)
      return browser.submit(action, fields)
    }
    const receiver = await startReceiver(t)
    const empty = await browser.open(path)
    assert.match(empty.text, /No webhooks yet/)
    await eventually(async () => assert.match((await browser.open(path)).text, /search-index Up to date/))

    const wrong = await submitOn(`${path}/new`, path, { url: '<b>', types: 'product.created nonsense' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Must start with https:\/\/ or http:\/\//)
    assert.match(wrong.text, /Must be an event such as product\.created or product\.\*/)
    assert.ok(wrong.html.includes('value="&#60;b&#62;"'))
    const made = await submitOn(`${path}/new`, path, {
      url: receiver.url,
      types: 'product.created\nproduct.deleted',
      description: 'Shop <1>',
    })
    assert.equal(made.status, 200)
    const [secret = ''] = /whsec_[\w+/=]+/.exec(made.text) ?? []
    const [, id] = /href="\/console\/webhooks\/(\d+)">I have kept it/.exec(made.html) ?? []
    const page = `${path}/${id}`
    const list = await browser.open(path)
    assert.match(list.text, /Shop <1>/)
    assert.ok(!list.html.includes('whsec_'))

    await submitOn(page, `${page}/test`)
    verify(secret, receiver.received[0] as Received)
    assert.match((await browser.open(page)).text, /webhook\.test msg_test_\S+ Delivered 204 in \d+ ms/)
    await createProduct(api, access, { name: 'Lamp' })
    await eventually(async () => assert.match((await browser.open(page)).text, /product\.created msg_\w+ Delivered/))
    const [, delivery] = /deliveries\/(\d+)\/retry/.exec((await browser.open(page)).html) ?? []
    receiver.answer = (_request, response) => response.writeHead(500).end('<script>broken</script>')
    await submitOn(page, `${page}/deliveries/${delivery}/retry`)
    const failed = await browser.open(page)
    assert.match(failed.text, /product\.created msg_\w+ Failed 500 in \d+ ms/)
    assert.ok(failed.html.includes('&#60;script&#62;broken'))

    await submitOn(page, `${page}/off`)
    assert.match((await browser.open(page)).text, /State Off/)
    receiver.answer = 204
    await submitOn(page, `${page}/on`)
    assert.match((await browser.open(page)).text, /State On/)
    const edit = { url: receiver.url, types: 'product.*', description: '' }
    await submitOn(page, `${page}/edit`, edit)
    assert.deepEqual((await api.get(`/api/admin/webhooks/${id}`, access)).body.data.types, ['product.*'])
    const replaced = await submitOn(page, `${page}/secret`)
    assert.match(replaced.text, /The secret is replaced\..*whsec_/)
    await submitOn(page, `${page}/delete`)
    assert.match((await browser.open(path)).text, /No webhooks yet/)
  })

  test('are shown to those who may see them, and changed by those who may change them', async (t) => {
    const config = createConfig(t, {
      auth: `auth { roles {
        admin { permissions = ["*"] }
        reader { permissions = ["webhooks.view"] }
        viewer { permissions = ["posts.view"] }
      } }`,
    })
    const api = await startApiWithRoles(t, { engine, config })
    const admin = await api.signInAs('admin')
    const { body } = await api.post(
      '/api/admin/webhooks',
      { url: 'https://example.com/hook', types: ['*'] },
      admin.access,
    )
    const page = `${path}/${body.data.id}`
    const browse = async (role: string) => {
      const { email } = await api.signInAs(role)
      const browser = openConsole(api)
      await browser.signIn(email)
      return browser
    }
    const viewer = await browse('viewer')
    for (const each of [path, page, `${path}/new`]) assert.equal((await viewer.open(each)).status, 403)
    const reader = await browse('reader')
    assert.equal((await reader.open(`${path}/new`)).status, 403)
    const shown = await reader.open(page)
    assert.equal(shown.status, 200)
    assert.doesNotMatch(shown.text, /Save the webhook|Delete|Send a test/)
    const token = shown.hidden('/console/sign-out')
    for (const act of ['edit', 'test', 'on', 'off', 'secret', 'delete']) {
      assert.equal((await reader.post(`${page}/${act}`, token)).status, 403, act)
    }
    assert.equal((await (await browse('admin')).open(`${path}/999`)).status, 404)
  })
})
