/** What an import in the console takes from others: places, time and memory. */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Database, Statement } from '../../src/platform/database/database.ts'
import { unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onEachEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const path = '/console/products/import'
const header = 'name,description,price\n'
const type = 'multipart/form-data; boundary=edge'

onEachEngine('an import in the console', (engine) => {
  test('two files are read at once; a third is asked to come again, until one of them is done', async (t) => {
    const { connection, head, send } = await start(t, engine)
    const slow: Socket[] = []
    /** A file that never ends. Where the file below has its place, it is refused and comes again. */
    function hold(i: number): void {
      const socket = connection()
      socket.write(`${head(1000)}--edge\r\n`)
      socket.once('data', () => hold(i))
      slow[i] = socket
    }
    hold(0)
    hold(1)
    await eventually(async () => assert.equal((await send({ act: 'preview', file: header })).status, 503))
    slow[0]?.destroy()
    await eventually(async () => assert.equal((await send({ act: 'preview', file: header })).status, 200))
  })

  test('whoever is not signed in takes no place, even with requests that nobody answers yet', async (t) => {
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

  test('a file counts until it is imported, though its sender is gone, and it is imported', async (t) => {
    const { api, connection, head, send, encode } = await start(t, engine)
    const gate = holdUp(api, 'product_imports')
    for (const name of ['Vanished A', 'Vanished B']) {
      const socket = connection()
      const body = encode({ act: 'import', file: `${header}${name},x,1\n` })
      socket.write(head(body.length) + body)
      const before = gate.waiting()
      await eventually(() => assert.ok(gate.waiting() > before))
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.destroy()
      await closed
    }
    // The service has seen the end of the connections when it answers on others.
    for (let i = 0; i < 3; i++) assert.equal((await api.get('/health/live')).status, 200)
    assert.equal((await send({ act: 'preview', file: header })).status, 503)
    gate.open()
    await eventually(async () => assert.equal((await send({ act: 'preview', file: header })).status, 200))
    // A place is free when the first of them is imported.
    await eventually(async () => assert.equal((await api.get('/api/v2/products?q=Vanished')).body.meta.total, 2))
  })

  test('a file that takes too long to read is refused', async (t) => {
    const { send } = await start(t, engine)
    for (const [line, count, problem] of [
      ['x"x,\n', 10_001, /More than 10,000 rows cannot be read\./],
      ['\n', 250_001, /The file has more than 250,000 lines\./],
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
    const rows = [
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
      ['name,description,price,category,stock,active', ',,,,,', ',,,,,', ',,,,,', '";=1",,,,,'],
    )
  })
})

interface Sent {
  act: string
  file: string
  name?: string
}

/** One thread, so that all uploads count together. */
async function start(t: TestContext, engine: 'sqlite' | 'postgres') {
  const api = await startApiWithRoles(t, { engine, env: unlimitedRates })
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
    api,
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
