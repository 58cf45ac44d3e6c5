/**
 * Keeps watch over connections that stay open, such as sockets and event streams: their user may lose the session, or a
 * role, meanwhile. Changes are told over the bus. For those that nobody tells of, every token is looked at again every
 * ten seconds, a few at a time; a token that expires is noticed by the clock.
 */
import { setImmediate as rest, setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Log } from '../log/logger.ts'
import { accessTopic } from './access-changes.ts'
import type { Authenticate, Principal } from './route-guards.ts'

export interface Watched {
  readonly token: string
  /** How the token is looked up; without, it is an access token. */
  readonly authenticate?: Authenticate
  /** What the token was found to stand for. */
  readonly principal: Principal
  /** The roles are others now. */
  onChange(principal: Principal): void
  /** The token is no longer good. Called once; the connection is not watched any more. */
  onEnd(): void
}

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

/** A token, with all the connections that it holds open. */
interface Bearer {
  token: string
  authenticate: Authenticate
  userId: number
  expiresAt: number
  /** Each with the principal as it last heard of it. */
  connections: Map<Watched, Principal>
}

/** A look at the expiry of 10,000 tokens in a row takes a fraction of a millisecond: no order need be kept. */
const sweepMs = 400
const sweepsPerRound = 25
/** How much is done before others get their turn. */
const slice = 20
const retryMs = 400

export async function createLiveAccess({ authenticate, bus, clock, log }: LiveAccessDeps): Promise<LiveAccess> {
  const bearers = new Map<string, Bearer>()
  const byUser = new Map<number, Set<Bearer>>()
  /** Those to look at: the ones that something was told of, and the rest. */
  const urgent = new Set<Bearer>()
  const due = new Set<Bearer>()
  let isChecking = false
  let isFailing = false
  let isClosed = false

  function watch(connection: Watched): () => void {
    const { token, principal } = connection
    let bearer = bearers.get(token)
    if (!bearer) {
      bearer = {
        token,
        authenticate: connection.authenticate ?? authenticate,
        userId: principal.id,
        expiresAt: principal.token.expiresAt,
        connections: new Map(),
      }
      bearers.set(token, bearer)
      byUser.set(bearer.userId, (byUser.get(bearer.userId) ?? new Set()).add(bearer))
    }
    const own = bearer
    own.connections.set(connection, principal)
    // It may have ended after it was authenticated and before it was watched.
    urgent.add(own)
    void checkDue()
    return () => forget(own, connection)
  }

  function forget(bearer: Bearer, connection: Watched): void {
    if (!bearer.connections.delete(connection) || bearer.connections.size > 0) return
    bearers.delete(bearer.token)
    urgent.delete(bearer)
    due.delete(bearer)
    const others = byUser.get(bearer.userId)
    others?.delete(bearer)
    if (others?.size === 0) byUser.delete(bearer.userId)
  }

  /** Goes on until nothing is due. */
  async function checkDue(): Promise<void> {
    if (isChecking) return
    isChecking = true
    for (let taken = take(); taken.size > 0; taken = take()) {
      await rest()
      const outcomes = await Promise.allSettled([...taken.keys()].map(check))
      const failed = [...taken].filter((_, i) => outcomes[i]?.status === 'rejected')
      for (const [bearer, from] of failed) if (bearer.connections.size > 0) from.add(bearer)
      report(outcomes)
      // Nobody loses a connection because the database is away: it is asked again.
      if (failed.length > 0) await sleep(retryMs, undefined, { ref: false })
    }
    isChecking = false
  }

  /** Takes the next few, and remembers where from. */
  function take(): Map<Bearer, Set<Bearer>> {
    const taken = new Map<Bearer, Set<Bearer>>()
    if (isClosed) return taken
    for (const from of [urgent, due]) {
      for (const bearer of from) {
        if (taken.size === slice) return taken
        from.delete(bearer)
        if (!taken.has(bearer)) taken.set(bearer, from)
      }
    }
    return taken
  }

  function report(outcomes: PromiseSettledResult<void>[]): void {
    const failure = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failure && !isFailing) log.warn({ err: failure.reason }, 'open connections cannot be checked; tried again')
    isFailing = failure !== undefined
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
      if (i % slice === slice - 1) await rest()
      if (isClosed) return
      try {
        tell(connection)
      } catch (error) {
        log.error({ err: error }, 'a connection failed to hear of its access')
      }
    }
  }

  let round = bearers.values()
  let sweeps = 0
  const timer = setInterval(() => {
    const now = clock.nowSeconds()
    const expired = [...bearers.values()].filter(({ expiresAt }) => expiresAt <= now)
    if (expired.length > 0) void endAll(expired)
    if (sweeps++ % sweepsPerRound === 0) round = bearers.values()
    for (let left = Math.ceil(bearers.size / sweepsPerRound); left > 0; left--) {
      const { value: bearer } = round.next()
      if (bearer) due.add(bearer)
    }
    void checkDue()
  }, sweepMs).unref()

  /** Asks no database, so one that is away delays it by nothing. */
  async function endAll(expired: Bearer[]): Promise<void> {
    for (const [i, bearer] of expired.entries()) {
      if (i % slice === slice - 1) await rest()
      await end(bearer)
    }
  }

  const unsubscribe = await bus.subscribe(accessTopic, (message) => {
    const { userId } = (message ?? {}) as { userId?: unknown }
    for (const bearer of byUser.get(Number(userId)) ?? []) urgent.add(bearer)
    void checkDue()
  })
  const forgetGaps = bus.onGap(() => {
    for (const bearer of bearers.values()) due.add(bearer)
    void checkDue()
  })

  return {
    watch,
    async close() {
      isClosed = true
      clearInterval(timer)
      unsubscribe()
      forgetGaps()
    },
  }
}

function haveSameRoles(one: Principal, other: Principal): boolean {
  return one.roles.length === other.roles.length && one.roles.every((role) => other.hasRole(role))
}
