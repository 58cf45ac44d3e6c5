/** Everything that forms can change, and whether they did. */
import assert from 'node:assert/strict'
import type { ApiOptions, Owner } from './api.ts'
import { readRoutes } from './openapi-document.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

const tables = [
  'users',
  'sessions',
  'web_sessions',
  'audit',
  'login_attempts',
  'two_factor',
  'recovery_codes',
  'passkeys',
  'mailed_tokens',
  'products',
  'posts',
]

export interface ApiWithActions extends ApiWithRoles {
  /** Every path below /console that accepts anything but GET. */
  actions: string[]
  /** A snapshot of everything that can be changed. */
  dump(): Promise<unknown[]>
}

export async function startApiWithActions(t: Owner, options: ApiOptions): Promise<ApiWithActions> {
  let tree = ''
  const api = await startApiWithRoles(t, {
    ...options,
    async extend(app) {
      await app.after()
      tree = app.printRoutes({ commonPrefix: false })
    },
  })
  const changing = readRoutes(tree).filter((route) => /^(?!GET|HEAD|OPTIONS)\w+ \/console\b/.test(route))
  assert.deepEqual(
    changing.filter((route) => !route.startsWith('POST ')),
    [],
    'pages send forms, and forms post',
  )
  return {
    ...api,
    actions: changing.map((route) => route.replace('POST ', '').replace(/\{\w+\}/g, '1')),
    dump: () => Promise.all(tables.map((table) => api.db.all(`SELECT * FROM ${table} ORDER BY 1`))),
  }
}
