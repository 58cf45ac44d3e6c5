/** Requests on a million products compared with a thousand: no cost may grow with the table. */
import { atMost, type Benchmark, median, type Result } from './support/benchmark.ts'
import { createSqliteDataset, type Dataset, finds } from './support/dataset.ts'
import { createClient, percentile, steadyReads } from './support/http.ts'
import { type BenchServer, keepAsking, load } from './support/load.ts'
import { startService } from './support/service.ts'

export const large = 1_000_000
export const small = 1000

const path = '/api/v2/products'
const requests = {
  'by id': `${path}/777`,
  'the first page': path,
  'page 40,000': `${path}?page=40000`,
  'a category of 50': `${path}?category=${finds.category}`,
  'a term of three characters in 50 names': `${path}?q=${finds.rare}`,
  'a term of two characters in 50 names': `${path}?q=${finds.short}`,
  'a term in 7 of 100 names': `${path}?q=${finds.common}`,
} as const

type Name = keyof typeof requests
type Costs = Record<Name, number>

const rounds = 5
const besideRounds = 5

export const productsAtScale: Benchmark = async () => {
  const datasets = [await createSqliteDataset(small), await createSqliteDataset(large)] as const
  try {
    return await compare(datasets)
  } finally {
    for (const dataset of datasets) dataset.remove()
  }
}

/** Runs on either engine, on the small database first. */
export async function compare([few, many]: readonly [Dataset, Dataset]): Promise<Result[]> {
  const [a, b] = [
    await startService('service.ts', { DATABASE_URL: few.url }),
    await startService('service.ts', { DATABASE_URL: many.url }),
  ]
  try {
    await checkFinds(b)
    for (const service of [a, b]) load(service.url + requests['by id'], { connections: 16, seconds: 3 })
    measure(a, 1)
    measure(b, 1)
    const measured = Array.from({ length: rounds }, () => ({ few: measure(a, 2), many: measure(b, 2) }))
    return [...judge(measured), ...(await readsBeside(b))]
  } finally {
    await a.stop()
    await b.stop()
  }
}

/** A search with the wrong result would make the measurement meaningless. */
async function checkFinds({ url }: BenchServer): Promise<void> {
  for (const [name, count] of [
    ['page 40,000', 20],
    ['a category of 50', 50],
    ['a term of three characters in 50 names', 50],
    ['a term of two characters in 50 names', 50],
    ['a term in 7 of 100 names', 1000],
  ] as const) {
    const { data } = (await (await fetch(url + requests[name])).json()) as { data: unknown[] }
    if (data.length !== count) throw new Error(`${name}: ${data.length} products instead of ${count}`)
  }
}

/** Milliseconds per request, with the whole server on one core. */
function measure({ url }: BenchServer, seconds: number): Costs {
  const costs = Object.entries(requests).map(([name, request]) => [
    name,
    1000 / load(url + request, { connections: 8, seconds }),
  ])
  return Object.fromEntries(costs) as Costs
}

function judge(measured: { few: Costs; many: Costs }[]): Result[] {
  const cost = (size: 'few' | 'many', name: Name) => median(measured.map((round) => round[size][name])).toFixed(3)
  const ofItself = (name: Name, target: number) =>
    atMost(`${name} of a million products, relative to a thousand products`, target, {
      ratios: measured.map((round) => round.many[name] / round.few[name]),
      note: `${cost('many', name)} ms and ${cost('few', name)} ms`,
    })
  const ofFirstPage = (name: Name, target: number) =>
    atMost(`${name} of a million products, relative to the first page`, target, {
      ratios: measured.map((round) => round.many[name] / round.many['the first page']),
      note: `${cost('many', name)} ms and ${cost('many', 'the first page')} ms`,
    })
  return [
    ofItself('by id', 1.3),
    ofItself('the first page', 1.3),
    ofFirstPage('page 40,000', 5),
    ofItself('a category of 50', 5),
    ofItself('a term of three characters in 50 names', 5),
    ofFirstPage('a term of two characters in 50 names', 20),
    ofFirstPage('a term in 7 of 100 names', 80),
  ]
}

/** Reads by id while one client continuously sends one of the other requests. */
async function readsBeside({ url }: BenchServer): Promise<Result[]> {
  const readers = createClient(url, { connections: 50 })
  const reads = (seconds: number) => steadyReads(readers.send, requests['by id'], { perSecond: 200, seconds })
  try {
    await reads(2)
    const results: Result[] = []
    for (const [name, request] of Object.entries(requests).slice(1)) {
      const pairs: { quiet: number; beside: number }[] = []
      for (let round = 0; round < besideRounds; round++) {
        const quiet = percentile(await reads(3), 0.99)
        const stopAsking = keepAsking(url + request)
        pairs.push({ quiet, beside: percentile(await reads(3), 0.99) })
        await stopAsking()
      }
      const ms = (which: 'quiet' | 'beside') => median(pairs.map((pair) => pair[which])).toFixed(2)
      results.push(
        atMost(`p99 of 200 reads by id a second during ${name}, relative to an idle service`, 5, {
          ratios: pairs.map(({ quiet, beside }) => beside / quiet),
          note: `${ms('beside')} ms and ${ms('quiet')} ms`,
        }),
      )
    }
    return results
  } finally {
    readers.close()
  }
}
