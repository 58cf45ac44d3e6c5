/// <reference path="./rate-limiter-flexible.d.ts" />
/** Rate limits per client address, in memory, and in Redis if configured, so that nodes count together. */
import ipaddr from 'ipaddr.js'
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import { parseAddress, withoutPort } from '../../core/addresses.ts'
import { AppError } from '../../core/app-error.ts'
import { replyTimeoutMs } from '../../core/supervised-connection.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Redis } from '../redis/redis.ts'
import { createRateCounts, type Rate, type RateCounts } from './rate-counts.ts'

export interface Limiter {
  /** Consumes `weight` points, 1 by default. Throws 429 if the address has used up its points. */
  take(address: string, weight?: number): Promise<void>
}

interface SharedTake {
  key: string
  weight: number
  limiter: RateLimiterRedis
}

/** Returns the same limiter for the same name. Nodes with the same Redis share it too. */
export type CreateLimiter = (name: string, rate: Rate) => Limiter

interface LimitersOptions {
  /** Of this process. */
  counts?: RateCounts
  /** Called for each take that Redis should have counted, and only this node has. */
  onFallback?: (() => void) | undefined
}

export function createLimiters(redis: Redis | undefined, options: LimitersOptions = {}): CreateLimiter {
  const { counts: processCounts = createRateCounts(), onFallback = () => {} } = options
  const made = new Map<string, Limiter>()
  return (name, rate) => {
    const limiter = made.get(name) ?? createLimiter(name, rate)
    made.set(name, limiter)
    return limiter
  }

  function createLimiter(name: string, rate: Rate): Limiter {
    const options = { keyPrefix: `limit:${name}`, points: rate.requests, duration: rate.seconds }
    // Always counts too. While Redis is down, each node continues from here, so an address never gets a second budget; and
    // what exceeds the limit on this node alone is refused without asking Redis.
    const own = processCounts.of(name, rate)
    const shared = redis && new RateLimiterRedis({ ...options, storeClient: redis.client, useRedisPackage: true })

    async function takeShared({ key, weight, limiter }: SharedTake): Promise<void> {
      const counting = limiter.consume(key, weight).then(
        (counted) => own.raise(key, counted),
        (refusal: unknown) => {
          if (refusal instanceof RateLimiterRes) own.raise(key, refusal)
          throw refusal
        },
      )
      try {
        // A Redis that hangs must not keep everybody from signing in.
        await withTimeout(counting, replyTimeoutMs)
      } catch (error) {
        // Any other error says nothing about the address, and this node's own count has accepted it.
        if (error instanceof RateLimiterRes) throw refusalAfter(error.msBeforeNext)
        onFallback()
      }
    }

    return {
      async take(address, weight = 1) {
        const key = rateKey(address)
        const { isRefused, msBeforeNext } = await own.consume(key, weight)
        if (isRefused) throw refusalAfter(msBeforeNext)
        if (!shared) return
        if (redis.isUp()) await takeShared({ key, weight, limiter: shared })
        else onFallback()
      },
    }
  }
}

function refusalAfter(waitMs: number): AppError {
  return tooManyAttempts(Math.max(1, Math.ceil(waitMs / 1000)))
}

export function tooManyAttempts(waitSeconds: number): AppError {
  return new AppError(429, 'Too many attempts', { headers: { 'retry-after': String(waitSeconds) } })
}

/** IPv6 addresses count by /64, because one customer holds a whole /64. Text that is no address is its own key. */
export function rateKey(given: string): string {
  // Some proxies forward the port too.
  const text = withoutPort(given)
  const address = parseAddress(text)
  if (!address) return text
  if (address instanceof ipaddr.IPv4) return address.toString()
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16))
  return `${groups.join(':')}::/64`
}
