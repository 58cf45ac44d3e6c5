/** Sorted and filtered pages of a million products, relative to the first page by id. */
import type { Benchmark, Result } from './support/benchmark.ts'
import { fill, finds } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { createClient } from './support/http.ts'
import { startService } from './support/service.ts'
import { measureSortedPages } from './support/sorted-pages.ts'

const path = '/api/v2/products'
const products = 1_000_000
const sorts = ['id', 'name', 'price', 'stock', 'updated_at'] as const
const filters = [
  '',
  'filter[active]=true',
  // None of them.
  'filter[active]=false',
  'filter[category]=category%207',
  `filter[category]=${finds.category}`,
  'filter[price][gte]=500&filter[price][lt]=600',
  'filter[price][gte]=1000.5&filter[price][lt]=1000.6',
  'filter[stock][lte]=25&filter[category]=category%203',
  'filter[stock]=49&filter[price][gt]=900&filter[active]=true',
  'filter[updated_at][gte]=2030-01-01',
] as const

export const productOrders: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databaseUrl = await createDatabase()
  await fill(databaseUrl, products)
  const server = await startService('service.ts', { DATABASE_URL: databaseUrl, MAX_EVENT_LOOP_DELAY_MS: '0' })
  const { send, close } = createClient(server.url, { connections: 1 })
  try {
    await send('GET', `${path}?sort=id`)
    return await measureSortedPages({ name, send, path, sorts, filters })
  } finally {
    close()
    await server.stop()
  }
}
