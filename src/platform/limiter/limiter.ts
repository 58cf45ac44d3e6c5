/** How often a client address may try. In memory, or in Redis where several nodes must count together. */
import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from '../../core/app-error.ts'
import type { RedisClient } from '../redis/redis.ts'

export interface Rate {
  requests: number
  seconds: number
}

export interface Limiter {
  /** Throws 429 where the address has used up its share. */
  take(address: string): Promise<void>
}

/** Makes a limiter of its own for each name. */
export type CreateLimiter = (name: string, rate: Rate) => Limiter

export function createLimiters(redis: RedisClient | undefined): CreateLimiter {
  return (name, { requests, seconds }) => {
    const options = { keyPrefix: `limit:${name}`, points: requests, duration: seconds }
    const memory = new RateLimiterMemory(options)
    // While Redis is away each node counts by itself: too lenient by the number of nodes, but never open.
    const limiter = redis
      ? new RateLimiterRedis({ ...options, storeClient: redis, useRedisPackage: true, insuranceLimiter: memory })
      : memory
    return {
      async take(address) {
        try {
          await limiter.consume(rateKey(address))
        } catch (refusal) {
          if (!(refusal instanceof RateLimiterRes)) throw refusal
          const wait = String(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)))
          throw new AppError(429, 'Too many attempts', { headers: { 'retry-after': wait } })
        }
      },
    }
  }
}

/** One customer holds a whole /64 of IPv6 addresses: they count as one. */
export function rateKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [plain = ''] = address.split('%')
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
