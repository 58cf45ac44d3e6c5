/**
 * Keeps watch over connections that stay open, such as sockets and event streams: their user may lose the session, or a
 * role, meanwhile. Changes are told over the bus. For those that nobody tells of, every token is looked at again every
 * ten seconds, a few at a time; a token that expires is noticed by the clock.
 */
import { setImmediate as rest } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Log } from '../log/logger.ts'
import { accessTopic } from './access-changes.ts'
import { type Bearer, Bearers, type Watched } from './bearers.ts'
import { createCheckQueue } from './check-queue.ts'
import type { Authenticate, Principal } from './route-guards.ts'

export interface LiveAccess {
  /** Returns how to stop watching. */
  watch(connection: Watched): () => void
  close(): Promise<void>
}

export interface LiveAccessDeps {
  authenticate: Authenticate
  bus: Bus
  clock: Clock
  log: Log
}

/** A look at the expiry of 10,000 tokens in a row takes a fraction of a millisecond: no order need be kept. */
const sweepMs = 400
const sweepsPerRound = 25
/** How many are told before others get their turn. */
const toldAtOnce = 20

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
    // A browser's session ends later the more it is used.
    bearer.expiresAt = principal.token.expiresAt
    await inTurns([...bearer.connections.keys()], (connection) => {
      const known = bearer.connections.get(connection)
      if (!known || haveSameRoles(known, principal)) return
      bearer.connections.set(connection, principal)
      connection.onChange(principal)
    })
  }

  async function end(bearer: Bearer): Promise<void> {
    await inTurns([...bearer.connections.keys()], (connection) => {
      if (!bearer.connections.has(connection)) return
      forget(bearer, connection)
      connection.onEnd()
    })
  }

  /** One token may hold thousands of connections: telling them all must not stop the others. */
  async function inTurns(connections: Watched[], tell: (connection: Watched) => void): Promise<void> {
    for (const [i, connection] of connections.entries()) {
      if (i % toldAtOnce === toldAtOnce - 1) await rest()
      if (isClosed) return
      try {
        tell(connection)
      } catch (error) {
        log.error({ err: error }, 'a connection failed to hear of its access')
      }
    }
  }

  /** Asks no database, so one that is away delays it by nothing. */
  async function endAll(expired: Bearer[]): Promise<void> {
    for (const [i, bearer] of expired.entries()) {
      if (i % toldAtOnce === toldAtOnce - 1) await rest()
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
      // It may have ended after it was authenticated and before it was watched.
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

/** Returns how to take the next part of all bearers; the parts of one round are all of them. */
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

function haveSameRoles(one: Principal, other: Principal): boolean {
  const [before, after] = [rolesBehind(one), rolesBehind(other)]
  return before.length === after.length && before.every((role) => after.includes(role))
}

/** A key may hold no roles, and still do no more than its owner's roles allow. */
function rolesBehind({ key, roles }: Principal): readonly string[] {
  return key?.ownerRoles ?? roles
}
