/** A service that tells its test what becomes of connections that stay open. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Parts } from '../../src/app.ts'
import type { LiveAccess } from '../../src/platform/http/live-access.ts'
import type { ApiOptions } from './api.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

export interface Open {
  ends: number
  /** The roles that it was told of. */
  changes: string[][]
  stop(): void
}

export interface WatchingApi extends ApiWithRoles {
  parts: Parts
  /** Holds a connection open by this token. */
  open(token: string, liveAccess?: LiveAccess): Promise<Open>
}

export async function startWatchingApi(t: TestContext, options: ApiOptions = {}): Promise<WatchingApi> {
  let parts: Parts | undefined
  const api = await startApiWithRoles(t, {
    ...options,
    extend: (_app, given) => {
      parts = given
    },
  })
  const found = parts as unknown as Parts
  return {
    ...api,
    parts: found,
    async open(token, liveAccess = found.liveAccess) {
      const principal = await found.authenticate(token)
      assert.ok(principal)
      const open: Open = { ends: 0, changes: [], stop: () => {} }
      open.stop = liveAccess.watch({
        token,
        principal,
        onChange: ({ roles }) => open.changes.push([...roles]),
        onEnd: () => {
          open.ends += 1
        },
      })
      return open
    },
  }
}
