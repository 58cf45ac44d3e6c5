/** Sorted and filtered pages of a long list, relative to its first page. */
import { atMost, median, type Result } from './benchmark.ts'
import type { Send } from './http.ts'

export interface SortedPagesOptions {
  /** The engine. */
  name: string
  send: Send
  path: string
  sorts: readonly string[]
  filters: readonly string[]
  token?: string
}

const rounds = 5
const requestsPerRound = 10
const target = 20

export async function measureSortedPages(options: SortedPagesOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const filter of options.filters) {
    const queries = await queriesOf(options, filter)
    for (const query of queries) await ask(options, query)
    results.push(await compare(options, filter, queries))
  }
  return results
}

/** In each order, forwards and backwards: the first page, the one after, and one behind many. */
async function queriesOf({ send, path, sorts, token }: SortedPagesOptions, filter: string): Promise<string[]> {
  const queries: string[] = []
  for (const sort of sorts.flatMap((field) => [field, `-${field}`])) {
    const first = `${path}?sort=${sort}&${filter}`
    const { body } = await send('GET', first, token === undefined ? {} : { token })
    const { next } = (JSON.parse(body) as { meta: { next: string | null } }).meta
    queries.push(first, `${first}&page=100`, ...(next === null ? [] : [`${first}&cursor=${next}`]))
  }
  return queries
}

/** The dearest of them counts. */
async function compare(options: SortedPagesOptions, filter: string, queries: readonly string[]): Promise<Result> {
  const { name, path } = options
  const all: { dearest: number; query: string; first: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const first = await ask(options, path)
    let [dearest, dearestQuery] = [0, '']
    for (const query of queries) {
      const ms = await ask(options, query)
      if (ms > dearest) [dearest, dearestQuery] = [ms, query]
    }
    all.push({ dearest, query: dearestQuery, first })
  }
  const ms = (which: 'dearest' | 'first') => median(all.map((round) => round[which])).toFixed(2)
  const [worst] = all.toSorted((a, b) => b.dearest / b.first - a.dearest / a.first)
  return atMost(
    `${name}: the dearest of ${queries.length} pages, ${filter === '' ? 'no filter' : filter}, of the first by id`,
    target,
    {
      ratios: all.map(({ dearest, first }) => dearest / first),
      note: `${ms('dearest')} ms and ${ms('first')} ms, such as ${worst?.query.slice(path.length, path.length + 100)}`,
    },
  )
}

/** The median of some requests, one after another. */
async function ask({ send, token }: SortedPagesOptions, query: string): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < requestsPerRound; i++) {
    const { status, ms } = await send('GET', query, token === undefined ? {} : { token })
    if (status !== 200) throw new Error(`${query} was answered with ${status}`)
    times.push(ms)
  }
  return median(times)
}
