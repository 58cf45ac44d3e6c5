/// <reference path="./rate-limiter-flexible.d.ts" />
/** Counts for rate limits, in memory: one set per process, however many threads serve. */
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'

export interface Rate {
  requests: number
  seconds: number
}

export interface RateCounts {
  /** Returns the same count for the same name. */
  of(name: string, rate: Rate): RateCount
}

export interface RateCount {
  consume(key: string, weight: number): Promise<Consumed>
  /** Raises the count to what Redis has counted, as the basis for when Redis is down. */
  raise(key: string, counted: Counted): void
}

export interface Counted {
  consumedPoints: number
  msBeforeNext: number
}

export interface Consumed {
  isRefused: boolean
  msBeforeNext: number
}

export function createRateCounts(): RateCounts {
  const made = new Map<string, RateCount>()
  return {
    of(name, rate) {
      const count = made.get(name) ?? createRateCount(name, rate)
      made.set(name, count)
      return count
    },
  }
}

function createRateCount(name: string, { requests, seconds }: Rate): RateCount {
  const limiter = new RateLimiterMemory({ keyPrefix: `limit:${name}`, points: requests, duration: seconds })
  return {
    async consume(key, weight) {
      try {
        const { msBeforeNext } = await limiter.consume(key, weight)
        return { isRefused: false, msBeforeNext }
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal
        return { isRefused: true, msBeforeNext: refusal.msBeforeNext }
      }
    },
    raise(key, { consumedPoints, msBeforeNext }) {
      void limiter.get(key).then((known) => {
        if (msBeforeNext <= 0 || consumedPoints < (known?.consumedPoints ?? 0)) return
        return limiter.set(key, consumedPoints, msBeforeNext / 1000)
      })
    },
  }
}
