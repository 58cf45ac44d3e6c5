/** A service that reports to its test what happens to open connections. */
import assert from 'node:assert/strict'
import type { LiveAccess } from '../../src/platform/access/live-access.ts'
import type { ApiOptions, Owner } from './api.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

export interface Open {
  ends: number
  /** The roles it was notified of. */
  changes: string[][]
  stop(): void
}

export interface WatchingApi extends ApiWithRoles {
  /** Opens a connection with this token. */
  open(token: string, liveAccess?: LiveAccess): Promise<Open>
}

export async function startWatchingApi(t: Owner, options: ApiOptions = {}): Promise<WatchingApi> {
  const api = await startApiWithRoles(t, options)
  return {
    ...api,
    async open(token, liveAccess = api.parts.liveAccess) {
      const principal = await api.parts.authenticate(token)
      assert.ok(principal)
      const open: Open = { ends: 0, changes: [], stop: () => {} }
      open.stop = liveAccess.watch({
        token,
        principal,
        onChange: () => void open.changes.push([...principal.roles]),
        onEnd: () => {
          open.ends += 1
        },
      })
      return open
    },
  }
}
