/**
 * The requests of the last hour, by minute and by route, for the console. The memory of a thread is fixed: a route that was
 * asked for has 60 minutes of counts. Recording allocates nothing.
 */

export interface RecentRequests {
  /** To be looked up once for each route. */
  route(labels: RouteLabels): RecentRoute
  read(): RecentFigures
}

export interface RouteLabels {
  method: string
  route: string
}

export interface RecentRoute {
  /** `at` is `performance.now()`. */
  observe(at: number, ms: number, isError: boolean): void
}

/** Of one thread, or of several that were merged. Plain values, to be sent between threads. */
export interface RecentFigures {
  /** The last of the minutes, since 1970. */
  minute: number
  /** Oldest first; the last one is not over. */
  minutes: readonly MinuteFigures[]
  /** Those that were asked for. */
  routes: readonly RouteFigures[]
}

export interface MinuteFigures {
  requests: number
  errors: number
}

export interface RouteFigures extends RouteLabels {
  errors: number
  /** How many took up to each of `recentBounds`; the last of them took longer. */
  counts: readonly number[]
}

export const recentMinutes = 60

/** Milliseconds, ascending. Each is at most twice the one before, so percentiles are off by less than that. */
export const recentBounds = [
  0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 1500, 2000,
  3000, 5000, 10_000, 20_000, 30_000,
] as const

const buckets = recentBounds.length + 1
/** The errors come after the buckets. */
const width = buckets + 1
const minuteMs = 60_000

interface Route extends RouteLabels {
  /** `width` numbers for each minute. */
  counts: Uint32Array
}

export function createRecentRequests(clock: Pick<Performance, 'now' | 'timeOrigin'> = performance): RecentRequests {
  const routes: Route[] = []
  // Wall-clock minutes, so that those of several threads are the same.
  const minuteAt = (now: number) => Math.floor((clock.timeOrigin + now) / minuteMs)
  let minute = minuteAt(clock.now())
  let slot = slotOf(minute)
  let endsAt = endOf(minute)

  function endOf(each: number): number {
    return (each + 1) * minuteMs - clock.timeOrigin
  }

  /** Clears the minutes that have begun since, which still hold those of an hour ago. */
  function moveTo(now: number): void {
    const next = minuteAt(now)
    for (let each = Math.max(minute + 1, next - recentMinutes + 1); each <= next; each += 1) {
      const from = slotOf(each)
      for (const { counts } of routes) counts.fill(0, from, from + width)
    }
    minute = next
    slot = slotOf(minute)
    endsAt = endOf(minute)
  }

  function add(labels: RouteLabels): Route {
    const route = { ...labels, counts: new Uint32Array(recentMinutes * width) }
    routes.push(route)
    return route
  }

  return {
    route(labels) {
      const known = routes.find(({ method, route }) => method === labels.method && route === labels.route)
      const { counts } = known ?? add(labels)
      return {
        observe(at, ms, isError) {
          if (at >= endsAt) moveTo(at)
          let i = 0
          while (i < recentBounds.length && ms > (recentBounds[i] as number)) i += 1
          counts[slot + i] = (counts[slot + i] as number) + 1
          if (isError) counts[slot + buckets] = (counts[slot + buckets] as number) + 1
        },
      }
    },

    read() {
      const now = clock.now()
      if (now >= endsAt) moveTo(now)
      const first = minute - recentMinutes + 1
      const minutes = Array.from({ length: recentMinutes }, () => ({ requests: 0, errors: 0 }))
      const summed = routes.map((route) => sumUp(route, first, minutes))
      return { minute, minutes, routes: summed.filter(({ counts }) => sum(counts) > 0) }
    },
  }
}

/** A thread may be a minute ahead. */
export function mergeRecent(all: readonly RecentFigures[]): RecentFigures {
  const minute = Math.max(0, ...all.map((each) => each.minute))
  const minutes = Array.from({ length: recentMinutes }, (_, i) => {
    const same = all.map((each) => each.minutes[i + minute - each.minute])
    return {
      requests: sum(same.map((each) => each?.requests ?? 0)),
      errors: sum(same.map((each) => each?.errors ?? 0)),
    }
  })
  const routes = new Map<string, RouteFigures>()
  for (const figures of all.flatMap((each) => each.routes)) {
    const key = `${figures.method} ${figures.route}`
    const known = routes.get(key)
    routes.set(key, known ? addRoutes(known, figures) : figures)
  }
  return { minute, minutes, routes: [...routes.values()] }
}

export function addRoutes(a: RouteFigures, b: Pick<RouteFigures, 'errors' | 'counts'>): RouteFigures {
  return { ...a, errors: a.errors + b.errors, counts: a.counts.map((count, i) => count + (b.counts[i] ?? 0)) }
}

/**
 * The time within which this share of the requests was answered, in milliseconds, as an estimate within its bucket.
 * Undefined without requests; the highest bound if it lies beyond that.
 */
export function percentileOf(counts: readonly number[], share: number): number | undefined {
  const total = sum(counts)
  if (total === 0) return undefined
  let before = 0
  for (const [i, bound] of recentBounds.entries()) {
    const count = counts[i] ?? 0
    if (before + count >= share * total) {
      const lower = recentBounds[i - 1] ?? 0
      return lower + ((bound - lower) * (share * total - before)) / count
    }
    before += count
  }
  return recentBounds.at(-1)
}

/** Adds the requests of a route to the minutes. In plain loops: there are 2,000 numbers for each route. */
function sumUp({ method, route, counts }: Route, first: number, minutes: MinuteFigures[]): RouteFigures {
  const sums = new Array<number>(buckets).fill(0)
  let errors = 0
  for (let m = 0; m < recentMinutes; m += 1) {
    const from = slotOf(first + m)
    const figures = minutes[m] as MinuteFigures
    for (let i = 0; i < buckets; i += 1) {
      const count = counts[from + i] as number
      sums[i] = (sums[i] as number) + count
      figures.requests += count
    }
    const failed = counts[from + buckets] as number
    figures.errors += failed
    errors += failed
  }
  return { method, route, errors, counts: sums }
}

function slotOf(minute: number): number {
  return (minute % recentMinutes) * width
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const each of numbers) total += each
  return total
}
