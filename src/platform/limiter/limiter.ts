/** How often a client address may try. In memory, or in Redis where several nodes must count together. */
import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../../core/app-error.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { RedisClient } from '../redis/redis.ts'

export interface Rate {
  requests: number
  seconds: number
}

export interface Limiter {
  /** Throws 429 where the address has used up its share, of which `weight` is taken: 1 for a request. */
  take(address: string, weight?: number): Promise<void>
}

const maxWaitMs = 500

/** One limiter for each name: whoever asks for it again shares it, as nodes do that share a Redis. */
export type CreateLimiter = (name: string, rate: Rate) => Limiter

export function createLimiters(redis: RedisClient | undefined): CreateLimiter {
  const made = new Map<string, Limiter>()
  return (name, rate) => {
    const limiter = made.get(name) ?? createLimiter(name, rate)
    made.set(name, limiter)
    return limiter
  }

  function createLimiter(name: string, { requests, seconds }: Rate): Limiter {
    const options = { keyPrefix: `limit:${name}`, points: requests, duration: seconds }
    const memory = new RateLimiterMemory(options)
    // While Redis is away each node counts by itself: too lenient by the number of nodes, but never open.
    const limiter = redis
      ? new RateLimiterRedis({ ...options, storeClient: redis, useRedisPackage: true, insuranceLimiter: memory })
      : memory
    return {
      async take(address, weight = 1) {
        const key = rateKey(address)
        try {
          // A Redis that takes the question and never answers must not keep everybody from signing in.
          await withTimeout(limiter.consume(key, weight), maxWaitMs).catch((error: unknown) => {
            if (limiter === memory || error instanceof RateLimiterRes) throw error
            return memory.consume(key, weight)
          })
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
  // Some proxies forward the port along: 203.0.113.7:5555, [2001:db8::1]:5555.
  const address = given.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight numbers of an IPv6 address, however it is written. */
function groupsOf(address: string): number[] {
  const [plain = ''] = address.split('%')
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain)
  const [a = 0, b = 0, c = 0, d = 0] = dotted?.slice(1).map(Number) ?? []
  const text = dotted
    ? `${plain.slice(0, dotted.index)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    : plain
  const [head = '', tail] = text.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [left, right] = [numbers(head), numbers(tail ?? '')]
  return tail === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
