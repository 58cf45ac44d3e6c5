/** The link that a service logs while it has no administrator. */
import assert from 'node:assert/strict'
import type { Api } from './api.ts'
import { eventually } from './eventually.ts'

export function loggedLink(api: Pick<Api, 'log'>): Promise<URL> {
  return eventually(() => new URL(findLink(api) ?? assert.fail('no link in the log')))
}

/** As a path, for the address that the test knows. */
export async function loggedPath(api: Pick<Api, 'log'>): Promise<string> {
  const { pathname, search } = await loggedLink(api)
  return `${pathname}${search}`
}

export function findLink({ log }: Pick<Api, 'log'>): string | undefined {
  return /"setupUrl":"([^"]+)"/.exec(log.join(''))?.[1]
}
