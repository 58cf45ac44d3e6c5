/** A product by id on PostgreSQL, compared with a bare Fastify handler over the same driver. */
import { root } from '../src/config/root.ts'
import { createRunFolder } from '../test/support/run-folder.ts'
import { startPostgres } from '../test/support/servers.ts'
import { atLeast, type Benchmark, median, perSecond } from './support/benchmark.ts'
import { fill } from './support/dataset.ts'
import { type BenchServer, load, startServer } from './support/load.ts'
import { startVersion } from './support/versions.ts'

const path = '/api/v2/products/500'
const rounds = 7
/** The service's default. */
const poolSize = '10'

export const postgresById: Benchmark = async () => {
  const folder = createRunFolder()
  const servers: BenchServer[] = []
  try {
    const databaseUrl = await startPostgres(folder.path, { shared_buffers: '512MB' })
    await fill(databaseUrl, 1000)
    const service = await startVersion({ place: root, databaseUrl, env: { THREADS: '1' } })
    servers.push(service)
    const bare = await startServer('fastify-pg.ts', { DATABASE_URL: databaseUrl, POOL_SIZE: poolSize })
    servers.push(bare)
    const ask = ({ url }: BenchServer, seconds: number) => load(`${url}${path}`, { connections: 64, seconds })
    ask(service, 6)
    ask(bare, 6)
    const all = Array.from({ length: rounds }, () => ({ service: ask(service, 3), bare: ask(bare, 3) }))
    const rate = (side: 'service' | 'bare') => perSecond(median(all.map((round) => round[side])))
    return [
      atLeast('a product by id on PostgreSQL, of a bare Fastify handler over pg with a named statement', 1, {
        ratios: all.map((round) => round.service / round.bare),
        note: `${rate('service')} of ${rate('bare')}`,
      }),
    ]
  } finally {
    for (const server of servers) await server.stop()
    await folder.remove()
  }
}
