/** Tells every node that a user's tokens have ended or that roles have changed, once that is durable. */
import type { Bus } from '../bus/bus.ts'
import type { Log } from '../log/logger.ts'

/** Never rejects: what has changed stays changed, whoever hears of it. */
export type OnAccessChanged = (userId: number) => Promise<void>

export const accessTopic = 'access'

export function createAccessChanges({ bus, log }: { bus: Bus; log: Log }): OnAccessChanged {
  const untold = new Set<number>()
  // Only this node's connection may have been away: the others wait for what they have not heard.
  bus.onGap(async () => {
    const late = [...untold]
    untold.clear()
    for (const userId of late) await tell(userId)
  })

  async function tell(userId: number): Promise<void> {
    try {
      await bus.publish(accessTopic, { userId })
    } catch (error) {
      untold.add(userId)
      log.warn(
        { err: error, userId },
        'other nodes could not be told that access has changed; they look for themselves',
      )
    }
  }

  return tell
}
