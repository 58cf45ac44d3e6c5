/** What group commit gives: 64 callers through the interface, beside one synchronous=FULL commit each. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../src/core/clock.ts'
import { systemRandom } from '../src/core/random.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'

const callers = 64
const roundMs = 1500
const insert = (placeholder: string) =>
  `INSERT INTO users (email, name, password_hash, created_at, updated_at) VALUES (${placeholder}, 'n', '-', '', '')`

export const durableWrites: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const file = join(folder, 'bench.db')
  const { db } = await openDatabase({
    url: `file:${file}`,
    root: '/',
    migrations: join(import.meta.dirname, '..', 'migrations'),
    poolSize: 1,
    statementTimeoutSeconds: 30,
    clock: systemClock,
    random: systemRandom,
  })
  const plain = new DatabaseSync(file, { timeout: 10_000 })
  plain.exec('PRAGMA synchronous = FULL')
  const statement = plain.prepare(insert('?1'))
  let written = 0

  function oneByOne(): number {
    const start = performance.now()
    const before = written
    while (performance.now() - start < roundMs) statement.run(`plain-${written++}`)
    return (written - before) / ((performance.now() - start) / 1000)
  }

  async function together(): Promise<number> {
    const start = performance.now()
    const before = written
    const caller = async () => {
      while (performance.now() - start < roundMs)
        await db.write({ sql: insert('$1'), params: [`grouped-${written++}`] })
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return (written - before) / ((performance.now() - start) / 1000)
  }

  try {
    await together()
    const rounds: { single: number; grouped: number }[] = []
    for (let i = 0; i < 5; i++) rounds.push({ single: oneByOne(), grouped: await together() })
    return [
      atLeast('durable writes with 64 callers, of one commit each on the same file', 8, {
        ratios: rounds.map(({ single, grouped }) => grouped / single),
        note: `${perSecond(median(rounds.map((r) => r.grouped)))} of ${perSecond(median(rounds.map((r) => r.single)))}`,
      }),
    ]
  } finally {
    plain.close()
    await db.close()
    rmSync(folder, { recursive: true })
  }
}
