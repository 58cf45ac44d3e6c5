/** Sorted, filtered and searched pages of a million products, relative to the first page. */
import { asAdministrator } from './support/administrator.ts'
import type { Benchmark, Result } from './support/benchmark.ts'
import { fill, finds } from './support/dataset.ts'
import { type Engine, onEachEngine } from './support/each-engine.ts'
import { type LongList, measureSortedPages } from './support/sorted-pages.ts'

const products = 1_000_000

const list: LongList = {
  rest: '/api/v2/products',
  console: '/console/products',
  rows: products,
  sorts: { id: 500_000, name: 'happy', price: 50_000, stock: 25, updated_at: '2026-01-01T00:00:00.000Z' },
  filters: [
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
    `q=${finds.rare}`,
    `q=${finds.common}`,
    `q=${finds.common}&filter[category]=${finds.category}`,
    'q=e',
  ],
  others: {
    'a jump to a value': [
      '/console/products?sort=name&from=happy',
      '/console/products?sort=-price&from=500',
      '/console/products?sort=stock&from=25',
      '/console/products?sort=updated_at&from=2026-01-01',
    ],
    'a search': [
      `/console/products?q=${finds.rare}`,
      `/console/products?q=${finds.short}`,
      `/console/products?q=${finds.common}`,
      `/console/products?q=${finds.common}&page=10`,
      `/console/products?q=${finds.common}&category=category%207`,
      `/console/products?q=${finds.common}&category=${finds.category}`,
      '/console/products?q=found%20nowhere',
      '/console/products?q=e',
      '/console/products?q=e&page=10',
    ],
    'a category': [
      '/console/products?category=category%207',
      '/console/products?category=category%207&page=10',
      `/console/products?category=${finds.category}`,
    ],
    'the search over everything': [finds.rare, finds.short, finds.common, 'found%20nowhere', 'e'].map(
      (q) => `/console/search?q=${q}`,
    ),
  },
  refused: [
    '/api/v2/products?sort=description',
    '/api/v2/products?filter[name]=Lamp',
    '/api/v2/products?sort=name&page=200',
    '/api/v2/products?sort=name&filter[stock]=3&page=30',
    '/console/products?sort=description',
  ],
}

export const productOrders: Benchmark = () => onEachEngine(measureOn)

async function measureOn({ name, createDatabase }: Engine): Promise<Result[]> {
  const databaseUrl = await createDatabase()
  await fill(databaseUrl, products)
  return asAdministrator(databaseUrl, (administrator) => measureSortedPages(name, list, administrator))
}
