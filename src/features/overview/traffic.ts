/** The requests of the last hour to this node, over all of its threads. */
import {
  addRoutes,
  mergeRecent,
  percentileOf,
  type RecentFigures,
  type RouteFigures,
  recentBounds,
} from '../../platform/metrics/recent-requests.ts'

export interface Traffic extends Times {
  errors: number
  /** Oldest first; the last one is not over. */
  minutes: readonly TrafficMinute[]
  /** By the time within which 99 of 100 were answered, longest first. */
  slowest: readonly RouteTimes[]
}

export interface TrafficMinute {
  /** Such as `21:44`, in UTC. */
  time: string
  requests: number
  errors: number
}

/** In milliseconds; undefined without requests. */
interface Times {
  requests: number
  p50: number | undefined
  p99: number | undefined
}

export interface RouteTimes extends Times {
  method: string
  route: string
  errors: number
}

const listedRoutes = 8
const minuteMs = 60_000
const none = { method: '', route: '', errors: 0, counts: new Array<number>(recentBounds.length + 1).fill(0) }

export function toTraffic(threads: readonly RecentFigures[]): Traffic {
  const { minute, minutes, routes } = mergeRecent(threads)
  const all = routes.reduce<RouteFigures>(addRoutes, none)
  return {
    ...timesOf(all.counts),
    errors: all.errors,
    minutes: minutes.map(({ requests, errors }, i) => ({
      time: timeOf(minute - minutes.length + 1 + i),
      requests,
      errors,
    })),
    slowest: routes
      .map(({ method, route, errors, counts }) => ({ method, route, errors, ...timesOf(counts) }))
      .sort((a, b) => (b.p99 ?? 0) - (a.p99 ?? 0))
      .slice(0, listedRoutes),
  }
}

function timesOf(counts: readonly number[]): Times {
  return {
    requests: counts.reduce((total, each) => total + each, 0),
    p50: percentileOf(counts, 0.5),
    p99: percentileOf(counts, 0.99),
  }
}

function timeOf(minute: number): string {
  return new Date(minute * minuteMs).toISOString().slice(11, 16)
}
