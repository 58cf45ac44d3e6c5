/** Every sort, filter and page of a long list, by REST and in the console, relative to the first page of the same. */
import { writeListCursor, writeSort } from '../../src/platform/listing/list-cursor.ts'
import type { FilterValue } from '../../src/platform/listing/list-definition.ts'
import type { Administrator } from './administrator.ts'
import { atMost, median, type Result } from './benchmark.ts'
import type { SendOptions, Timed } from './http.ts'

/** Addresses of a list, by what they have in common. The dearest of a group is judged. */
type Groups = Readonly<Record<string, readonly string[]>>

export interface LongList {
  /** The paths of its first pages. */
  rest: string
  console: string
  /** What it can be sorted by, and a value in the middle of it. */
  sorts: Readonly<Record<string, FilterValue>>
  filters: readonly string[]
  rows: number
  /** Addresses of the console beside these, such as of a search. */
  others: Groups
  /** Addresses that are refused with the reason. */
  refused: readonly string[]
}

interface Part {
  name: string
  first: string
  groups: Groups
  open(path: string): Promise<Timed>
}

const rounds = 5
const pairsPerRound = 4
const triesEach = 3
/** Of each group. */
const candidates = 3
const target = 20
/** Some hundred rows of a file. */
const enoughBytes = 16_384

export async function measureSortedPages(
  engine: string,
  list: LongList,
  { send, token, cookie }: Administrator,
): Promise<Result[]> {
  const opener = (options: SendOptions) => (path: string) => send('GET', path, options)
  const [api, browser] = [opener({ token }), opener({ cookie, enoughBytes })]
  const parts: Part[] = [
    { name: `${engine}, REST`, first: list.rest, groups: restGroups(list), open: api },
    { name: `${engine}, console`, first: list.console, groups: consoleGroups(list), open: opener({ cookie }) },
    { name: `${engine}, CSV file`, first: list.console, groups: exportGroups(list), open: browser },
  ]
  const results: Result[] = []
  for (const part of parts) {
    for (const [name, paths] of Object.entries(part.groups)) {
      const result = await compare(part, name, paths)
      process.stderr.write(`\r\u001b[K  ${result.measured.slice(0, 100)} `)
      results.push(result)
    }
  }
  process.stderr.write('\r\u001b[K')
  for (const path of list.refused) {
    results.push(await expectRefusal(engine, path, path.startsWith('/api') ? api : browser))
  }
  return results
}

/** In each order, forwards and backwards: the first page, that after and before the middle, and `more`. */
function sortedPages(path: string, { sorts, rows }: LongList, filter: string, more: readonly string[]): string[] {
  const pages: string[] = []
  for (const [field, value] of Object.entries(sorts)) {
    for (const isDescending of [false, true]) {
      const sort = { field, isDescending }
      const first = `${path}?sort=${writeSort(sort)}${filter === '' ? '' : `&${filter}`}`
      const cursors = [false, true].map((isBefore) => writeListCursor(sort, { value, id: rows >> 1, isBefore }))
      pages.push(first, ...cursors.map((cursor) => `${first}&cursor=${cursor}`), ...more.map((each) => first + each))
    }
  }
  return pages
}

function restGroups(list: LongList): Groups {
  const lastPage = Math.ceil(list.rows / 20)
  const byNumber = [2, lastPage >> 1, lastPage].map((page) => `${list.rest}?page=${page}`)
  return {
    'a page by its number': [...byNumber, `${list.rest}?page=100&per_page=100`],
    ...byFilter(list, (filter) =>
      sortedPages(list.rest, list, filter, [filter === '' ? '&page=100' : '&page=25', '&per_page=100']),
    ),
  }
}

function consoleGroups(list: LongList): Groups {
  const lastPage = Math.floor(list.rows / 25)
  return {
    'a page by its number': [2, lastPage >> 1, lastPage].map((page) => `${list.console}?page=${page}`),
    ...byFilter(list, (filter) => sortedPages(list.console, list, filter, [])),
    ...list.others,
  }
}

/** Only without a filter: what no product passes is told at the end of the file, which takes as long as all of them. */
function exportGroups(list: LongList): Groups {
  const orders = Object.keys(list.sorts).flatMap((field) => [field, `-${field}`])
  return { 'its beginning, no filter': orders.map((sort) => `${list.console}/export?sort=${sort}`) }
}

function byFilter({ filters }: LongList, toPaths: (filter: string) => string[]): Groups {
  return Object.fromEntries(filters.map((filter) => [filter === '' ? 'no filter' : filter, toPaths(filter)]))
}

/**
 * In turns with the first page, so that what else the machine does is in both. Of each round the quickest counts, which was
 * disturbed least: waiting for a busy core would make all pages look alike. The dearest of the group counts.
 */
async function compare({ name, first, open }: Part, group: string, paths: readonly string[]): Promise<Result> {
  const all = (await dearestOf(open, paths)).map((path) => ({ path, rounds: [] as Pair[] }))
  for (let round = 0; round < rounds; round++) {
    for (const each of all) {
      const pairs: Pair[] = []
      for (let i = 0; i < pairsPerRound; i++) {
        pairs.push({ firstMs: await ask(open, first), ms: await ask(open, each.path) })
      }
      const least = (which: keyof Pair) => Math.min(...pairs.map((pair) => pair[which]))
      each.rounds.push({ ms: least('ms'), firstMs: least('firstMs') })
    }
  }
  const ratiosOf = (measured: Pair[]) => measured.map(({ ms, firstMs }) => ms / firstMs)
  const [dearest] = all.toSorted((a, b) => median(ratiosOf(b.rounds)) - median(ratiosOf(a.rounds)))
  if (!dearest) throw new Error(`${group} has no pages`)
  const ms = (which: keyof Pair) => median(dearest.rounds.map((round) => round[which])).toFixed(2)
  return atMost(`${name}: the dearest of ${paths.length}, ${group}, relative to the first page`, target, {
    ratios: ratiosOf(dearest.rounds),
    note: `${ms('ms')} ms and ${ms('firstMs')} ms, ${dearest.path}`,
  })
}

interface Pair {
  ms: number
  firstMs: number
}

/** All are asked for a few times, and the dearest are compared closely. */
async function dearestOf(open: Part['open'], paths: readonly string[]): Promise<string[]> {
  const all: { path: string; ms: number }[] = []
  for (const path of paths) {
    const times: number[] = []
    for (let i = 0; i < triesEach; i++) times.push(await ask(open, path))
    all.push({ path, ms: Math.min(...times) })
  }
  const sorted = all.toSorted((a, b) => b.ms - a.ms)
  return sorted.slice(0, candidates).map(({ path }) => path)
}

async function ask(open: Part['open'], path: string): Promise<number> {
  const { status, ms } = await open(path)
  if (status !== 200) throw new Error(`${path} was answered with ${status}`)
  return ms
}

async function expectRefusal(engine: string, path: string, open: Part['open']): Promise<Result> {
  const { status, body } = await open(path)
  const [reason] = /Cannot be combined[^"<]*|Must be [^"<]*|Unknown filter[^"<]*/.exec(body) ?? []
  return {
    claim: `${engine}: ${path} is refused with the reason`,
    measured: `${status}, ${reason ?? 'no reason'}`,
    isMet: status === 422 && reason !== undefined,
  }
}
