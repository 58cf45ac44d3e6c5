/** Scans wait here, fairly by client. Those of a client that has disconnected are dropped. */
import { serviceUnavailable } from '../../core/app-error.ts'
import { type CurrentClient, clientGone, currentClient } from '../../core/current-client.ts'
import { createFairQueue } from '../../core/fair-queue.ts'

export interface ScanQueue {
  /** `client` is undefined for work of the service itself. */
  run<T>(work: (client: CurrentClient | undefined) => Promise<T>): Promise<T>
  waiting(): number
}

const maxPerClient = 512
const maxWaiting = 4096
/** Clients' keys are addresses. */
const service = { client: 'service', isUrgent: true, isBegun: true }

export function createScanQueue(atOnce: number): ScanQueue {
  const queue = createFairQueue({
    atOnce,
    maxPerClient,
    maxWaiting,
    full: () => serviceUnavailable(),
    gone: clientGone,
  })
  return {
    async run(work) {
      const client = currentClient()
      if (!client) return queue.run(service, () => work(undefined))
      if (client.isGone()) throw clientGone()
      const { key, isGone, onGone } = client
      return queue.run({ client: key, isUrgent: true, isGone, onGone }, () => work(client))
    },
    waiting: () => queue.counts().waiting,
  }
}
