/** The overhead of the framework and the database interface: a row by key, compared with bare node:http. */
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'
import { load, startServer } from './support/load.ts'
import { startService } from './support/service.ts'

export const rowByKey: Benchmark = async () => {
  const service = await startService('row.ts')
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
      atLeast('a row by key, as a fraction of bare node:http with the same bytes', 0.5, {
        ratios: rounds.map((round) => round.service / round.bare),
        note: `${perSecond(median(rounds.map((round) => round.service)))} of ${perSecond(median(rounds.map((round) => round.bare)))}`,
      }),
    ]
  } finally {
    await service.stop()
    await bare.stop()
  }
}
