/** Importing a file of products in the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const path = '/console/products/import'

onAnyEngine('an import in the console', (engine) => {
  const shared = share((owner) => startApiWithRoles(owner, { engine, env: unlimitedRates }))

  test('shows the columns, the first products and the problems, and imports nothing before it is asked to', async () => {
    const { api, send } = await start(await shared())
    const before = await total(api)
    const text = 'Name;Description;Price;Colour\nDesk Lamp;"Bright; warm";12.50;red\nMug;Tea;free;blue\n'
    const { status, text: shown } = await send({ act: 'preview', file: text })
    assert.equal(status, 200)
    assert.match(shown, /products\.csv: 1 product to import, 1 row with problems/)
    assert.match(shown, /name.*description.*price.*colour.*\(ignored\)/)
    assert.match(shown, /Desk Lamp.*Bright; warm.*\$12\.50.*general/)
    assert.match(shown, /Line 3.*price: Must be a number/)
    assert.equal(await total(api), before)
  })

  test('imports the file that the preview carries, once: the same file is refused until that is confirmed', async () => {
    const { api, browser, send } = await start(await shared())
    const text = `name,description,price\n${'Kettle,"Two\r\nlines",20\n'.repeat(1500)}Bad,,none\n`
    const preview = await send({ act: 'preview', file: text })
    assert.match(preview.text, /1,500 products to import, 1 row with problems/)
    const before = await total(api)
    const carried = preview.hidden(path)
    const { status, text: shown } = await send({ act: 'import', ...carried })
    assert.equal(status, 200)
    assert.match(shown, /1,500 products are imported\..*1 row is not imported/)
    assert.equal(await total(api), before + 1500)
    const [newest] = (await api.get('/api/v2/products?q=Kettle')).body.data
    assert.equal(newest.attributes.description, 'Two\r\nlines')
    assert.match((await browser.open(`/console/products/${newest.id}/history`)).text, /Created by you/)

    const again = await send({ act: 'import', ...carried })
    assert.equal(again.status, 409)
    assert.match(again.text, /This file is imported already: 1,500 products/)
    assert.equal(await total(api), before + 1500)
    const confirmed = await send({ act: 'import', again: 'yes', ...again.hidden(path) })
    assert.match(confirmed.text, /1,500 products are imported/)
    assert.equal(await total(api), before + 3000)
    const [, id = ''] = /data-import="([0-9a-f]{64})"/.exec(again.html) ?? []
    assert.equal((await browser.open(`${path}/${id}`)).html, '{"records":1501}')
  })

  test('goes on where an import of the same file was interrupted, as the command does', async () => {
    const { api, send } = await start(await shared())
    const text = `name,description,price\n${Array.from({ length: 10 }, (_, i) => `Half ${i},x,1\n`).join('')}`
    const preview = await send({ act: 'preview', file: text })
    const [, id = ''] = /data-import="([0-9a-f]{64})"/.exec(preview.html) ?? []
    await api.db.write({
      sql: 'INSERT INTO product_imports (id, records, rejected, started_at) VALUES ($1, 6, 0, $2)',
      params: [id, api.clock.nowIso()],
    })
    const before = await total(api)
    const { text: shown } = await send({ act: 'import', file: text })
    assert.match(shown, /4 products are imported/)
    assert.equal(await total(api), before + 4)
  })

  test('reads NDJSON, and hands out the rows that failed with their reasons, ready to be corrected', async () => {
    const { send } = await start(await shared())
    const rows = [
      { name: 'Fine', description: 'x', price: 1 },
      { name: '=1+1', description: 'x', price: 0 },
    ]
    const file = `${rows.map((row) => JSON.stringify(row)).join('\n')}\nnot json\n`
    const preview = await send({ act: 'preview', file, name: 'things.ndjson' })
    assert.match(preview.text, /1 product to import, 2 rows with problems/)
    const download = await send({ act: 'rejected', ...preview.hidden(path) })
    assert.match(download.headers.get('content-disposition') ?? '', /attachment/)
    assert.equal(
      download.html,
      'line,problem,name,description,price,category,stock,active\n' +
        "2,price: Must be at least 0.01,'=1+1,x,0,,,\n" +
        '3,not a JSON object,,,,,,\n',
    )
  })

  test('says what is wrong with a file that cannot be read', async () => {
    const { send } = await start(await shared())
    for (const [file, problem] of [
      ['', /The file is empty/],
      ['Name;Price\nLamp;3\n', /The file has no column description; its first row is: Name;Price/],
      ['title,cost\nLamp,3\n', /The file has no column name, description, price/],
      ['name,name,description,price\n', /has the column name twice/],
    ] as const) {
      const { status, text } = await send({ act: 'preview', file })
      assert.equal(status, 422, file)
      assert.match(text, problem)
    }
    const none = await send({ act: 'preview', file: '', name: '' })
    assert.equal(none.status, 422)
    assert.match(none.text, /Choose a file\./)
    const { status, text } = await send({ act: 'import', file: 'name,description,price\n,,\n' })
    assert.equal(status, 200)
    assert.match(text, /0 products are imported/)
  })

  test('is refused without a valid _token, to who may not write, and above the limit', async (t) => {
    const { send, browser } = await start(await shared())
    const file = 'name,description,price\nForged,x,1\n'
    assert.equal((await send({ act: 'import', file, _token: 'made.up' })).status, 403)
    assert.equal((await send({ act: 'import', file: `${file}${'x'.repeat(10 * 1024 * 1024)}` })).status, 413)
    assert.equal((await browser.open(`${path}/${'0'.repeat(64)}`)).html, '{"records":0}')
    const stranger = await start(await shared(), { isSignedIn: false })
    assert.match((await stranger.send({ act: 'import', file })).location ?? '', /sign-in/)
    const closed = await startApiWithRoles(t, {
      engine,
      config: createConfig(t, { products: 'products {\n  write_permission = "products.write"\n}\n' }),
    })
    const reader = await start(closed, { isSignedIn: false })
    await reader.browser.signIn((await register(closed)).email)
    assert.equal((await reader.browser.open(path)).status, 403)
    assert.equal((await reader.send({ act: 'import', file })).status, 403)
  })
})

interface Sent {
  act: string
  file?: string
  name?: string
  [field: string]: string | undefined
}

async function start(api: ApiWithRoles, { isSignedIn = true } = {}) {
  const browser = openConsole(api)
  if (isSignedIn) await browser.signIn((await register(api)).email)
  const { _token = '' } = isSignedIn ? (await browser.open(path)).hidden(path) : {}
  return { api, browser, send: (sent: Sent) => post(browser, { _token, ...sent }) }
}

/** As a browser sends a form with a file. */
async function post(browser: ConsoleBrowser, { file, name, ...fields }: Sent) {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value ?? '')
  if (file === undefined) form.set('name', name ?? '')
  else form.set('file', new File([file], name ?? 'products.csv'))
  const encoded = new Response(form)
  const body = Buffer.from(await encoded.arrayBuffer())
  return browser.postRaw(path, body, encoded.headers.get('content-type') ?? '')
}

async function total(api: ApiWithRoles): Promise<number> {
  return (await api.get('/api/v2/products')).body.meta.total
}
