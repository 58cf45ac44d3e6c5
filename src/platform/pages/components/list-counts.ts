/** How many rows a list has, in words. */
import { type Html, html } from '../html.ts'

/** What is listed. */
export interface ListWords {
  /** Such as Nothing, or Nobody. */
  none: string
  /** Such as entry and entries. */
  one: string
  many: string
}

/** Such as “1,204 users”. */
export function counted(count: number, { one, many }: Pick<ListWords, 'one' | 'many'>): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

export interface ListCount {
  /** Null if there are so many that they were not counted. */
  total: number | null
  /** What is wrong with the query. */
  problem: string | undefined
  /** The address of the same list with its exact count. Without it, the page has that link elsewhere. */
  exact?: string
}

export function countLine(words: ListWords, { total, problem, exact }: ListCount): Html | string {
  if (problem !== undefined) return `${words.none} is shown`
  if (total === null) {
    const told = `Many ${words.many}; not counted`
    return exact === undefined ? told : html`${told}. <a href="${exact}">Count exactly</a>`
  }
  return total === 0 ? `${words.none} found` : counted(total, words)
}
