/** How often a client address may try. In memory, or in Redis where several nodes must count together. */
import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { parseAddress, withoutPort } from '../../core/addresses.ts'
import { AppError } from '../../core/app-error.ts'
import { replyTimeoutMs } from '../../core/supervised-connection.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Redis } from '../redis/redis.ts'

export interface Rate {
  requests: number
  seconds: number
}

export interface Limiter {
  /** Throws 429 where the address has used up its share, of which `weight` is taken: 1 for a request. */
  take(address: string, weight?: number): Promise<void>
}

interface SharedTake {
  key: string
  weight: number
  limiter: RateLimiterRedis
}

/** One limiter for each name: whoever asks for it again shares it, as nodes do that share a Redis. */
export type CreateLimiter = (name: string, rate: Rate) => Limiter

export function createLimiters(redis: Redis | undefined): CreateLimiter {
  const made = new Map<string, Limiter>()
  return (name, rate) => {
    const limiter = made.get(name) ?? createLimiter(name, rate)
    made.set(name, limiter)
    return limiter
  }

  function createLimiter(name: string, { requests, seconds }: Rate): Limiter {
    const options = { keyPrefix: `limit:${name}`, points: requests, duration: seconds }
    // Counts along at all times. While Redis is away each node goes on from there, so it never hands out a second share;
    // and what an address has taken from this node alone is refused without asking.
    const own = new RateLimiterMemory(options)
    const shared = redis && new RateLimiterRedis({ ...options, storeClient: redis.client, useRedisPackage: true })

    /** What all nodes have counted together is what this one goes on from. */
    function adopt(key: string, counted: RateLimiterRes): void {
      const known = own.get(key)
      void known.then((mine) => {
        if (counted.msBeforeNext <= 0 || counted.consumedPoints < (mine?.consumedPoints ?? 0)) return
        return own.set(key, counted.consumedPoints, counted.msBeforeNext / 1000)
      })
    }

    async function takeShared({ key, weight, limiter }: SharedTake): Promise<void> {
      const counting = limiter.consume(key, weight).then(
        (counted) => adopt(key, counted),
        (refusal: unknown) => {
          if (refusal instanceof RateLimiterRes) adopt(key, refusal)
          throw refusal
        },
      )
      try {
        // A Redis that takes the question and never answers must not keep everybody from signing in.
        await withTimeout(counting, replyTimeoutMs)
      } catch (error) {
        // Anything else than a refusal says nothing about the address: this node's own count has let it through.
        if (error instanceof RateLimiterRes) throw error
      }
    }

    return {
      async take(address, weight = 1) {
        const key = rateKey(address)
        try {
          await own.consume(key, weight)
          if (shared && redis.isUp()) await takeShared({ key, weight, limiter: shared })
        } catch (refusal) {
          if (!(refusal instanceof RateLimiterRes)) throw refusal
          throw tooManyAttempts(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)))
        }
      },
    }
  }
}

export function tooManyAttempts(waitSeconds: number): AppError {
  return new AppError(429, 'Too many attempts', { headers: { 'retry-after': String(waitSeconds) } })
}

/** One customer holds a whole /64 of IPv6 addresses: they count as one. What is no address counts as it is. */
export function rateKey(given: string): string {
  // Some proxies forward the port along.
  const text = withoutPort(given)
  const address = parseAddress(text)
  if (!address) return text
  if (address instanceof ipaddr.IPv4) return address.toString()
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16))
  return `${groups.join(':')}::/64`
}
