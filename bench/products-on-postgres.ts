/** The same requests on PostgreSQL, and the cost of maintained counts for writes. */
import { runOnServer } from '../src/testing/databases.ts'
import { createRunFolder } from '../test/support/run-folder.ts'
import { startPostgres } from '../test/support/servers.ts'
import { body } from './product-creates.ts'
import { compare, large, small } from './products-at-scale.ts'
import { atLeast, type Benchmark, median, perSecond, type Result } from './support/benchmark.ts'
import { createPostgresDatabase, type Dataset, fill } from './support/dataset.ts'
import { load } from './support/load.ts'
import { signIn } from './support/people.ts'
import { script } from './support/post.ts'
import { startService } from './support/service.ts'

export const productsOnPostgres: Benchmark = async () => {
  const folder = createRunFolder()
  try {
    // Fully durable: the cost of a commit is part of the measurement.
    const server = await startPostgres(folder.path, { fsync: 'on', full_page_writes: 'on', shared_buffers: '512MB' })
    const shapes = await compare([await createDataset(server, small), await createDataset(server, large)])
    return [...shapes, await maintainedCounts(server)]
  } finally {
    await folder.remove()
  }
}

async function createDataset(server: string, count: number): Promise<Dataset> {
  const url = await createPostgresDatabase(server)
  await fill(url, count)
  return { url, remove: () => {} }
}

/** Creates with the counting trigger, compared with creates without it. */
async function maintainedCounts(server: string): Promise<Result> {
  const url = await createPostgresDatabase(server)
  const service = await startService('service.ts', { DATABASE_URL: url }, { isPinned: false })
  try {
    const env = { TOKEN: await signIn(service.url), BODY: body }
    const creates = () => load(`${service.url}/api/v2/products`, { connections: 64, seconds: 4, script, env })
    const counting = (how: 'ENABLE' | 'DISABLE') =>
      runOnServer(url, `ALTER TABLE products ${how} TRIGGER products_counted`)
    creates()
    const rounds: { without: number; kept: number }[] = []
    for (let round = 0; round < 5; round++) {
      await counting('DISABLE')
      const without = creates()
      await counting('ENABLE')
      rounds.push({ without, kept: creates() })
    }
    return atLeast('creates over 64 connections with maintained counts, as a fraction of those without', 0.7, {
      ratios: rounds.map(({ kept, without }) => kept / without),
      note: `${perSecond(median(rounds.map(({ kept }) => kept)))} of ${perSecond(median(rounds.map(({ without }) => without)))}`,
    })
  } finally {
    await service.stop()
  }
}
