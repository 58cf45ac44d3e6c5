/**
 * Sign-ins and failures by day, from the audit trail. What is settled is counted once, in the background; a reader adds the
 * entries since then.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Running } from '../../platform/feature.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { DayRow, EntryRow, SignInStore } from './sign-in-days.store.ts'

export interface SignInDay {
  /** Such as `2026-11-16`, in UTC. */
  day: string
  signIns: number
  failures: number
}

export interface SignIns {
  /** Oldest first; the last one is today. */
  days: readonly SignInDay[]
  /** The time of the last entry that is counted, if there are too many after it. */
  countedTo: string | undefined
}

export interface SignInDaysDeps {
  store: SignInStore
  clock: Clock
}

export const shownDays = 30

const dayMs = 86_400_000
/** Read by who looks at the figures; more are left to the next count. */
const maxRecent = 2000
const batch = 1000
const pauseMs = 20
const everyMs = 60_000

/** Each is an attempt to sign in. With two-factor, the password alone is neither a sign-in nor a failure. */
const attempts: readonly string[] = ['login', '2fa_verify', 'passkey_login', 'passkey_counter']
const undecided = 'second_factor_required'

export type SignInDays = ReturnType<typeof createSignInDays>

export function createSignInDays({ store, clock }: SignInDaysDeps) {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const firstDay = () => dayOf(clock.now() - (shownDays - 1) * dayMs)
  let isClosed = false
  let settled: number | undefined

  /** The last entry before that day. Ids ascend with time, so it takes some 30 reads by key, whatever their number. */
  async function findStart(day: string): Promise<number> {
    let before = 0
    let end = await store.lastId()
    while (before < end) {
      const middle = Math.floor((before + end) / 2)
      const entry = await store.firstAfter(middle)
      if (entry && entry.at < day) before = entry.id
      else end = middle
    }
    return before
  }

  /** Returns whether there may be more. */
  async function countSome(to: number): Promise<boolean> {
    const first = firstDay()
    const from = (await store.findCounted(first))?.position ?? (await findStart(first))
    const entries = await store.readEntries({ after: from, to, limit: batch })
    const last = entries.at(-1)
    if (!last) return false
    await store.add(countByDay(entries), { from, to: last.id, firstDay: first })
    return entries.length === batch
  }

  /**
   * Counts the entries that were there at the last call. On PostgreSQL, entries are not committed in the order of their
   * ids; in a minute, all of those before have been.
   */
  async function countSettled(): Promise<void> {
    const to = settled
    settled = await store.lastId()
    if (to === undefined) return
    while (!isClosed && (await countSome(to))) await sleep(pauseMs)
  }

  return {
    countSettled,

    async read(): Promise<SignIns> {
      const first = firstDay()
      const counted = await store.findCounted(first)
      const after = counted?.position ?? (await findStart(first))
      const recent = await store.readEntries({ after, to: Number.MAX_SAFE_INTEGER, limit: maxRecent })
      const byDay = new Map<string, SignInDay>()
      for (const { day, sign_ins, failures } of [...(counted?.days ?? []), ...countByDay(recent)]) {
        const known = byDay.get(day) ?? { day, signIns: 0, failures: 0 }
        byDay.set(day, { day, signIns: known.signIns + sign_ins, failures: known.failures + failures })
      }
      const days = Array.from({ length: shownDays }, (_, i) => {
        const day = dayOf(clock.now() - (shownDays - 1 - i) * dayMs)
        return byDay.get(day) ?? { day, signIns: 0, failures: 0 }
      })
      return { days, countedTo: recent.length === maxRecent ? recent.at(-1)?.at : undefined }
    },

    start(log: Pick<Log, 'warn'>): Running {
      const repeated = startPeriodicTask({
        everyMs,
        work: countSettled,
        onError: (error) => log.warn({ err: error }, 'counting the sign-ins failed; it is tried again in a minute'),
      })
      return {
        close() {
          isClosed = true
          return repeated.close()
        },
      }
    },
  }
}

function countByDay(entries: readonly EntryRow[]): DayRow[] {
  const days = new Map<string, DayRow>()
  for (const { at, event, outcome } of entries) {
    if (!attempts.includes(event) || outcome === undecided) continue
    const day = at.slice(0, 10)
    const row = days.get(day) ?? { day, sign_ins: 0, failures: 0 }
    // Old entries may have more after the word.
    if (outcome.startsWith('success')) row.sign_ins += 1
    else row.failures += 1
    days.set(day, row)
  }
  return [...days.values()]
}
