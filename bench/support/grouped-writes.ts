/** Prints the writes per second of 64 callers through the database interface, on the file in `DATABASE_FILE`. */

import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { ownMigrations } from '../../test/support/migrations.ts'

const callers = 64
const roundMs = 1500
const sql = "INSERT INTO users (email, name, password_hash, created_at, updated_at) VALUES ($1, 'n', '-', '', '')"

const { db } = await openDatabase({
  url: `file:${process.env.DATABASE_FILE}`,
  root: '/',
  migrations: ownMigrations,
  poolSize: 1,
  statementTimeoutSeconds: 30,
  clock: systemClock,
  random: systemRandom,
})
let written = 0

async function measure(): Promise<number> {
  const start = performance.now()
  const before = written
  const caller = async () => {
    while (performance.now() - start < roundMs) {
      await db.write({ sql, params: [`grouped-${process.pid}-${written++}`] })
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (written - before) / ((performance.now() - start) / 1000)
}

// Warm-up, for V8 to compile.
await measure()
process.stdout.write(String(await measure()))
await db.close()
