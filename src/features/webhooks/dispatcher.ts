/** Delivers to all endpoints, on one node at a time. */
import { pause, waitAtMost } from '../../core/pause.ts'
import type { ConsumerStore } from '../../platform/changes/consumers.store.ts'
import { findLagSeconds } from '../../platform/changes/lag.ts'
import { workUnderLease } from '../../platform/changes/lease.ts'
import { type EndpointLoop, type LoopDeps, startEndpointLoop } from './endpoint-loop.ts'
import { leaseName, type WebhookRow } from './webhooks.store.ts'

export interface DispatcherDeps extends LoopDeps {
  consumers: ConsumerStore
  /** Rings the alarms of all nodes. */
  wake(): void
  /** Called before it delivers. */
  prepare(): Promise<void>
}

export interface Dispatcher {
  /** By endpoint: how old the oldest entry is that is not done. Empty while another node delivers. */
  lagSeconds(): Promise<Record<string, number>>
  /** Waits a while for the messages that are being sent. */
  close(): Promise<void>
}

interface Running {
  revision: number
  loop: EndpointLoop
  stop: AbortController
}

/** How often new, changed and deleted endpoints are looked for, in case a wake-up was lost. */
const lookEveryMs = 5000
/** Before a loop that ended by itself is begun again. */
const pauseMs = 2000
/** What is being sent is sent again elsewhere if it takes longer. A stop has little time, and others wait for the lease. */
const maxStopMs = 500

export function startDispatcher(deps: DispatcherDeps): Dispatcher {
  const { alarm, changes, clock, consumers, holder, log, store, wake } = deps
  const stop = new AbortController()
  const cutOff = new AbortController()
  const running = new Map<number, Running>()

  async function deliverAll(_position: number, signal: AbortSignal): Promise<void> {
    try {
      await deps.prepare()
      while (!signal.aborted) {
        // What ends while they are read may be further than it was read.
        const busy = new Set(running.keys())
        const rows = await store.listOn()
        reconcile(rows, busy, signal)
        if (rows.length === 0 && running.size === 0) return
        await alarm.wait(lookEveryMs, signal)
      }
    } finally {
      for (const each of running.values()) each.stop.abort()
      await Promise.all([...running.values()].map(({ loop }) => loop.done))
    }
  }

  /** A loop whose endpoint has changed ends after its message; it is begun anew when it has ended. */
  function reconcile(rows: readonly WebhookRow[], busy: ReadonlySet<number>, signal: AbortSignal): void {
    const wanted = new Map(rows.map((row) => [row.id, row]))
    for (const [id, { revision, stop }] of running) {
      if (wanted.get(id)?.revision !== revision) stop.abort()
    }
    for (const row of rows) if (!busy.has(row.id)) begin(row, signal)
  }

  function begin(row: WebhookRow, signal: AbortSignal): void {
    const own = new AbortController()
    const signals = { stop: AbortSignal.any([signal, own.signal]), cutOff: cutOff.signal }
    const loop = startEndpointLoop(row, deps, signals)
    const done = loop.done
      .catch((error: unknown) =>
        log.warn({ err: error, webhook: row.id }, 'delivering a webhook was interrupted; it goes on shortly'),
      )
      // Unless it was told to end, the database or the lease is lost, or the endpoint has changed.
      .then(() => pause(pauseMs, signals.stop))
      .finally(() => {
        running.delete(row.id)
        alarm.ring()
      })
    running.set(row.id, { revision: row.revision, loop: { ...loop, done }, stop: own })
  }

  const ended = workUnderLease(
    {
      name: leaseName,
      holder,
      store: consumers,
      clock,
      alarm,
      isNeeded: store.hasOn,
      onReleased: wake,
      // Each endpoint has a position of its own.
      begin: () => 0,
      work: deliverAll,
      onError: (error) => log.warn({ err: error }, 'delivering webhooks was interrupted; it goes on shortly'),
    },
    stop.signal,
  )

  return {
    async lagSeconds() {
      const lags = [...running].map(
        async ([id, { loop }]) => [String(id), await findLagSeconds(changes.store, loop.position(), clock)] as const,
      )
      return Object.fromEntries(await Promise.all(lags))
    },

    async close() {
      stop.abort()
      const timer = setTimeout(() => cutOff.abort(), maxStopMs)
      // The database may be away.
      await waitAtMost(2 * maxStopMs, ended)
      clearTimeout(timer)
    },
  }
}
