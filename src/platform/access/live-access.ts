/**
 * Watches long-lived connections, such as WebSockets and event streams, whose user may lose the session or a role while
 * they are open. The bus reports changes; in case a message was missed, every token is re-checked every ten seconds.
 * Expired tokens are found by the clock.
 */
import { setImmediate as rest } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Log } from '../log/logger.ts'
import { accessTopic } from './access-changes.ts'
import { type Bearer, Bearers, type Watched } from './bearers.ts'
import { createCheckQueue } from './check-queue.ts'
import { revokePrincipal, rolesBehind, updatePrincipal } from './live-principal.ts'
import type { Authenticate } from './route-guards.ts'

export interface LiveAccess {
  /** Returns a function that stops watching. */
  watch(connection: Watched): () => void
  close(): Promise<void>
}

export interface LiveAccessDeps {
  authenticate: Authenticate
  bus: Bus
  clock: Clock
  log: Log
}

/** Comparing the expiry of 10,000 tokens takes a fraction of a millisecond, so they need not be sorted. */
const sweepMs = 400
const sweepsPerRound = 25
/** Batch size before yielding to the event loop. */
const notifiedAtOnce = 20

export async function createLiveAccess({ authenticate, bus, clock, log }: LiveAccessDeps): Promise<LiveAccess> {
  const bearers = new Bearers(authenticate)
  const checks = createCheckQueue({ check, log })
  const takePart = createRounds(bearers)
  let isClosed = false

  function forget(bearer: Bearer, connection: Watched): void {
    if (bearers.remove(bearer, connection)) checks.remove(bearer)
  }

  async function check(bearer: Bearer): Promise<void> {
    const principal = await bearer.authenticate(bearer.token)
    if (!principal) return end(bearer)
    // A browser session is extended by use.
    bearer.expiresAt = principal.token.expiresAt
    const roles = rolesBehind(principal)
    await inTurns([...bearer.connections.keys()], (connection) => {
      const known = bearer.connections.get(connection)
      if (!known) return
      updatePrincipal(connection.principal, principal)
      if (areSame(known, roles)) return
      bearer.connections.set(connection, roles)
      connection.onChange()
    })
  }

  async function end(bearer: Bearer): Promise<void> {
    await inTurns([...bearer.connections.keys()], (connection) => {
      if (!bearer.connections.has(connection)) return
      forget(bearer, connection)
      revokePrincipal(connection.principal)
      connection.onEnd()
    })
  }

  /** A token may have thousands of connections; notifying them all must not block the event loop. */
  async function inTurns(connections: Watched[], notify: (connection: Watched) => void): Promise<void> {
    for (const [i, connection] of connections.entries()) {
      if (i % notifiedAtOnce === notifiedAtOnce - 1) await rest()
      if (isClosed) return
      try {
        notify(connection)
      } catch (error) {
        log.error({ err: error }, 'a connection failed to handle its change of access')
      }
    }
  }

  /** Needs no database, so an unavailable one does not delay it. */
  async function endAll(expired: Bearer[]): Promise<void> {
    for (const [i, bearer] of expired.entries()) {
      if (i % notifiedAtOnce === notifiedAtOnce - 1) await rest()
      await end(bearer)
    }
  }

  const timer = setInterval(() => {
    const now = clock.nowSeconds()
    const expired = [...bearers.all()].filter(({ expiresAt }) => expiresAt <= now)
    if (expired.length > 0) void endAll(expired)
    checks.addDue(takePart())
  }, sweepMs).unref()
  const unsubscribe = await bus.subscribe(accessTopic, (message) => {
    const { userId } = (message ?? {}) as { userId?: unknown }
    checks.addUrgent(bearers.ofUser(Number(userId)))
  })
  const forgetGaps = bus.onGap(() => checks.addDue(bearers.all()))

  return {
    watch(connection) {
      const bearer = bearers.add(connection)
      // The token may have been revoked between authentication and now.
      checks.addUrgent([bearer])
      return () => forget(bearer, connection)
    },

    async close() {
      isClosed = true
      checks.close()
      clearInterval(timer)
      unsubscribe()
      forgetGaps()
    },
  }
}

/** Returns a function that returns the next slice of all bearers; `sweepsPerRound` slices cover all of them. */
function createRounds(bearers: Bearers): () => Bearer[] {
  let round = bearers.all()
  let sweeps = 0
  return () => {
    if (sweeps++ % sweepsPerRound === 0) round = bearers.all()
    const part: Bearer[] = []
    for (let left = Math.ceil(bearers.size / sweepsPerRound); left > 0; left--) {
      const { value: bearer } = round.next()
      if (bearer) part.push(bearer)
    }
    return part
  }
}

function areSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((role) => after.includes(role))
}
