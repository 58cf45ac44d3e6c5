/** What an import in the console takes from others: places, time and memory. */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Database, Statement } from '../../src/platform/database/database.ts'
import { type Api, startApi, unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'

const path = '/console/products/import'
const header = 'name,description,price\n'
const type = 'multipart/form-data; boundary=edge'

onAnyEngine('an import in the console', (engine) => {
  test('slow uploads of one user hold up neither others nor that user', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: unlimitedRates })
    const slow = await signIn(t, api)
    const other = await signIn(t, api)
    const sockets = Array.from({ length: 5 }, () => slow.connection())
    for (const socket of sockets) socket.write(`${slow.head(1000)}--edge\r\n`)
    for (const { send } of [other, slow]) assert.equal((await send({ act: 'preview', file: header })).status, 200)
    assert.ok(sockets.every(({ destroyed }) => !destroyed))
  })

  testInFull('whoever is not signed in takes no place, even with requests that nobody answers yet', async (t) => {
    const { connection, send } = await start(t, engine)
    const stranger = connection()
    const query = JSON.stringify({ query: 'subscription { counter { count } }' })
    const stream = `POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${query.length}\r\n\r\n${query}`
    const upload = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 0\r\n\r\n`
    // The first response never ends, so those of the others wait.
    stranger.write(stream + upload.repeat(3))
    await new Promise((resolve) => stranger.once('data', resolve))
    assert.equal((await send({ act: 'preview', file: header })).status, 200)
    stranger.destroy()
    assert.equal((await send({ act: 'preview', file: header })).status, 200)
  })

  test('one file of a user at a time: a second is refused until the first is imported, though its sender is gone', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: unlimitedRates })
    const { connection, head, encode, send } = await signIn(t, api)
    const other = await signIn(t, api)
    const gate = holdUp(api, 'product_imports')
    const socket = connection()
    const body = encode({ act: 'import', file: `${header}Vanished,x,1\n` })
    socket.write(head(body.length) + body)
    await eventually(() => assert.ok(gate.waiting() > 0))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.destroy()
    await closed
    // The service has seen the end of the connection when it answers on others.
    for (let i = 0; i < 3; i++) assert.equal((await api.get('/health/live')).status, 200)
    // However large it is: it is read, or a browser would show no page.
    for (const file of [header, 'x'.repeat(7 * 1024 * 1024)]) {
      const second = await send({ act: 'preview', file })
      assert.deepEqual([second.status, second.headers.get('retry-after')], [429, '5'])
      assert.match(second.text, /Another file of yours is still being processed\. Try again when it is done\./)
    }
    assert.equal((await other.send({ act: 'preview', file: header })).status, 200)
    gate.open()
    await eventually(async () => assert.equal((await send({ act: 'preview', file: header })).status, 200))
    await eventually(async () => assert.equal((await api.get('/api/v2/products?q=Vanished')).body.meta.total, 1))
  })

  testInFull('one file of a user at a time, whichever thread reads it', async (t) => {
    const api = await startApi(t, { engine, env: unlimitedRates, threads: 2 })
    const { send, connection, head, encode } = await signIn(t, api)
    const body = encode({ act: 'import', file: header + 'Kettle,x,1\n'.repeat(60_000) })
    const socket = connection()
    socket.write(head(body.length) + body)
    // Every connection may be another thread's.
    await eventually(async () => {
      const statuses = await Promise.all(Array.from({ length: 4 }, () => send({ act: 'preview', file: header })))
      assert.ok(statuses.every(({ status }) => status === 429 || status === 200))
      assert.ok(statuses.filter(({ status }) => status === 429).length >= 3, 'two files were read at once')
    })
    socket.destroy()
  })

  testInFull('a file that takes too long to read is refused', async (t) => {
    const { send } = await start(t, engine)
    for (const [line, count, problem] of [
      ['x"x,\n', 10_001, /More than 10,000 rows cannot be read\./],
      ['\n', 250_001, /The file has more than 250,000 lines\./],
      ['"a" b,\n', 10_001, /More than 10,000 rows cannot be read\./],
    ] as const) {
      const { status, text } = await send({ act: 'import', file: header + line.repeat(count) })
      assert.equal(status, 422)
      assert.match(text, problem)
    }
  })

  test('neither many columns nor strange values harm the page or the file of rejected rows', async (t) => {
    const { send } = await start(t, engine)
    const wide = await send({ act: 'preview', file: `name,description,price${',a'.repeat(10_000)}\nLamp,x,1\n` })
    assert.match(wide.text, /and 9,953 more/)
    assert.ok(wide.html.length < 100_000, `${wide.html.length} characters`)
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const tooWide = await send({ act: 'preview', file: `name,description,price${','.repeat(8_000_000)}` })
    assert.equal(tooWide.status, 422)
    assert.match(tooWide.text, /The first row has more than 16,384 fields\./)
    const rows = [
      `{"name":[${'{},'.repeat(100_000)}{}]}`,
      `{"name":{"toString":1}}`,
      `{"name":${deep}}`,
      '{"name":[{"valueOf":1}],"stock":null}',
      '{"name":";=1"}',
    ]
    const download = await send({ act: 'rejected', file: rows.join('\n'), name: 'odd.ndjson' })
    assert.equal(download.status, 200)
    assert.deepEqual(
      download.html
        .trimEnd()
        .split('\n')
        .map((line) => line.split(',').slice(-6).join()),
      ['name,description,price,category,stock,active', ',,,,,', ',,,,,', ',,,,,', ',,,,,', '";=1",,,,,'],
    )
  })
})

interface Sent {
  act: string
  file: string
  name?: string
}

async function start(t: TestContext, engine: 'sqlite' | 'postgres') {
  return signIn(t, await startApiWithRoles(t, { engine, env: unlimitedRates }))
}

async function signIn(t: TestContext, api: Api) {
  const browser = openConsole(api)
  await browser.signIn((await register(api)).email)
  const { _token = '' } = (await browser.open(path)).hidden(path)
  const cookies = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
  const { hostname, port } = new URL(api.url)
  const encode = ({ act, file, name = 'products.csv' }: Sent) =>
    [
      `--edge\r\nContent-Disposition: form-data; name="_token"\r\n\r\n${_token}`,
      `--edge\r\nContent-Disposition: form-data; name="act"\r\n\r\n${act}`,
      `--edge\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${file}`,
      '--edge--\r\n',
    ].join('\r\n')
  return {
    encode,
    send: (sent: Sent) => browser.postRaw(path, Buffer.from(encode(sent)), type),
    /** The beginning of an upload with the session of the browser. */
    head: (length: number) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${cookies}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
    connection(): Socket {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      t.after(() => socket.destroy())
      return socket
    },
  }
}

/** Writes whose first statement names this table wait until the gate is opened. */
function holdUp({ db }: ApiWithRoles, table: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const write = db.write.bind(db)
  let waiting = 0
  const writeLater = async (...statements: Statement[]) => {
    if (statements[0]?.sql.includes(table)) {
      waiting += 1
      await promise
    }
    return write(...statements)
  }
  db.write = writeLater as Database['write']
  return { waiting: () => waiting, open: resolve }
}
