/** Notifies every node that a user's tokens were revoked or roles have changed. Called after the change is durable. */
import type { Bus } from '../bus/bus.ts'
import type { Log } from '../log/logger.ts'

/** Never rejects: the change is already committed. */
export type OnAccessChanged = (userId: number) => Promise<void>

export const accessTopic = 'access'

export function createAccessChanges({ bus, log }: { bus: Bus; log: Log }): OnAccessChanged {
  const unpublished = new Set<number>()
  // If only this node's connection was lost, the others noticed no gap and must still be notified.
  bus.onGap(async () => {
    const late = [...unpublished]
    unpublished.clear()
    for (const userId of late) await publish(userId)
  })

  async function publish(userId: number): Promise<void> {
    try {
      await bus.publish(accessTopic, { userId })
    } catch (error) {
      unpublished.add(userId)
      log.warn(
        { err: error, userId },
        'a change of access could not be published; other nodes find it by their periodic checks',
      )
    }
  }

  return publish
}
