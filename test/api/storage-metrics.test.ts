/** How much room the database takes, and how much is left, in /metrics. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { createStorage } from '../../src/platform/database/storage.ts'
import { startApi } from '../support/api.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { register } from '../support/people.ts'

onAnyEngine('storage', (engine) => {
  test('the size of the database is in the metrics; on SQLite also of its -wal, and the room on its disk', async (t) => {
    const api = await startApi(t, { engine })
    // Something is in the -wal.
    await register(api)
    const { body } = await api.get('/metrics')
    const figureOf = (name: string) =>
      Number(
        body
          .split('\n')
          .find((line: string) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    assert.ok(figureOf('database_size_bytes{part="data"}') > 0)
    const wal = figureOf('database_size_bytes{part="wal"}')
    const [free, total] = ['free', 'total'].map((room) => figureOf(`database_disk_bytes{room="${room}"}`))
    if (engine === 'sqlite') {
      assert.ok(wal > 0 && wal <= statSync(`${api.databaseUrl.slice('file:'.length)}-wal`).size)
      assert.ok((free as number) > 0 && (total as number) > (free as number))
    } else {
      assert.deepEqual([wal, free, total], [Number.NaN, Number.NaN, Number.NaN])
    }
  })
})

test('what cannot be found out is left out', async (t) => {
  const storage = createStorage(undefined as never, `${temporaryFolder(t)}/missing/test.db`)
  assert.deepEqual([await storage.sizes(), await storage.disk()], [{}, {}])
})
