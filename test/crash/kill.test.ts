/** An acknowledged write survives the death of the process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { chosen } from '../support/tiers.ts'

for (const round of chosen([1, 2, 3], (each) => each === 1)) {
  test(`kill -9 under parallel writes loses nothing that was acknowledged, round ${round}`, async (t) => {
    const file = join(temporaryFolder(t), 'test.db')
    const acknowledged = await writeUntilKilled(t, file)
    assert.ok(acknowledged.length > 100, `only ${acknowledged.length} writes before the end`)

    const db = new DatabaseSync(file)
    t.after(() => db.close())
    assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
    const kept = new Set(
      db
        .prepare('SELECT name FROM names')
        .all()
        .map(({ name }) => name),
    )
    assert.deepEqual(
      acknowledged.filter((name) => !kept.has(name)),
      [],
    )
    // A batch writes two rows: both or none.
    const halves = db
      .prepare("SELECT count(*) AS n FROM names WHERE name NOT IN (SELECT replace(twin, '-twin', '') FROM twins)")
      .get()
    assert.equal(halves?.n, 0)
  })
}

async function writeUntilKilled(t: TestContext, file: string): Promise<string[]> {
  const acknowledged = `${file}.acknowledged`
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), file, acknowledged], {
    stdio: 'inherit',
  })
  const ended = once(child, 'close')
  t.after(() => child.kill('SIGKILL'))
  await eventually(() => assert.ok(countLines(acknowledged) >= 500 || child.exitCode !== null))
  child.kill('SIGKILL')
  assert.deepEqual(await ended, [null, 'SIGKILL'], 'the writer did not end by itself')
  // The last line may be incomplete: such a write was not acknowledged.
  return readFileSync(acknowledged, 'utf8').split('\n').slice(0, -1)
}

function countLines(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}
