/** A durable listener misses nothing when its process is killed in the middle of its work. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createClient } from '../../src/testing/client.ts'
import { createDatabaseUrl, onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { startProcess } from '../support/process.ts'

const few = 5

/** Writes each change to a file. While there is no second file, it stops after a few, in the middle of the next one. */
const extension = (file: string, released: string) => `
  import { appendFileSync, existsSync, readFileSync } from 'node:fs'
  import { setTimeout as sleep } from 'node:timers/promises'
  import { defineFeature, on } from 'latchkey/feature'
  const file = ${JSON.stringify(file)}
  const countLines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\\n').length - 1 : 0)
  export default defineFeature({
    name: 'recorder',
    create: () => undefined,
    listeners: () => [
      on('product.created', { durable: 'recorder' }, async ({ data }) => {
        while (countLines() >= ${few} && !existsSync(${JSON.stringify(released)})) await sleep(20)
        appendFileSync(file, data.attributes.name + '\\n')
      }),
    ],
  })`

onAnyEngine('a durable listener', (engine) => {
  test('has got everything at least once, in order, after kill -9', async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'recorded')
    const module = join(folder, 'recorder.ts')
    const released = join(folder, 'released')
    writeFileSync(module, extension(file, released))
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const env = { DATABASE_URL, LATCHKEY_EXTENSIONS: module, JWT_SECRET: 'x'.repeat(32), BCRYPT_COST: '4' }
    const recorded = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [])
    const names = Array.from({ length: 40 }, (_, i) => `Product ${i}`)

    const first = await startProcess(t, { env })
    const api = createClient(first.url)
    const token = await api.signIn()
    for (const name of names) {
      const { status, body } = await api.post('/api/v2/products', { name, description: 'x', price: 1 }, token)
      assert.equal(status, 201, JSON.stringify(body))
    }
    await eventually(() => assert.equal(recorded().length, few))
    first.child.kill('SIGKILL')
    await first.ended
    assert.equal(recorded().length, few, 'killed in the middle')
    writeFileSync(released, '')
    // The lease of the killed process would last for some seconds.
    const { db } = await openDatabase(openOptions({ url: DATABASE_URL, migrations: ownMigrations }))
    await db.write({ sql: 'UPDATE change_consumers SET held_until = 0' })
    await db.close()

    await startProcess(t, { env })
    await eventually(() => assert.equal(recorded().at(-1), names.at(-1)))
    assert.deepEqual([...new Set(recorded())], names)
  })
})
