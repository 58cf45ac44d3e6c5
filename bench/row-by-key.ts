/** What the framework and the database interface cost: a row by its key, beside bare node:http with the same bytes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'
import { load, startServer } from './support/load.ts'

export const rowByKey: Benchmark = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const service = await startServer('row.ts', {
    DATABASE_URL: `file:${folder}/bench.db`,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'warn',
    JWT_SECRET: 'a secret for the benchmarks, nothing else',
  })
  const url = `${service.url}/rows/1`
  const body = await (await fetch(url)).text()
  const bare = await startServer('bare.ts', { BODY: body })
  try {
    load(url, { connections: 64, seconds: 5 })
    load(bare.url, { connections: 64, seconds: 5 })
    const rounds = Array.from({ length: 5 }, () => ({
      bare: load(bare.url, { connections: 64, seconds: 3 }),
      service: load(url, { connections: 64, seconds: 3 }),
    }))
    return [
      atLeast('a row by key, of bare node:http with the same bytes', 0.5, {
        ratios: rounds.map((round) => round.service / round.bare),
        note: `${perSecond(median(rounds.map((round) => round.service)))} of ${perSecond(median(rounds.map((round) => round.bare)))}`,
      }),
    ]
  } finally {
    await service.stop()
    await bare.stop()
    rmSync(folder, { recursive: true })
  }
}
