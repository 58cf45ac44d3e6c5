import type { Clock } from '../../core/clock.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { BackupsStore } from './backups.store.ts'

export function addBackupMetrics(metrics: Metrics, { store, clock }: { store: BackupsStore; clock: Clock }): void {
  metrics.addGauge({
    name: 'backup_age_seconds',
    help: 'Age of the last backup that was written, and of the last that was also restored and compared.',
    label: 'backup',
    aggregator: 'max',
    async read() {
      const [written, proved] = await Promise.all([store.findLastWritten(), store.findLastProved()])
      const age = (startedAt: number) => Math.max(0, clock.nowSeconds() - startedAt)
      return {
        ...(written && { written: age(written.started_at) }),
        ...(proved && { proved: age(proved.started_at) }),
      }
    },
  })
  metrics.addGauge({
    name: 'backup_proved',
    help: 'Whether the last backup that was written was restored and compared: 1, or 0.',
    label: 'backup',
    aggregator: 'max',
    read: async () => ({ last: (await store.findLastWritten())?.proved ? 1 : 0 }),
  })
}
