import type { Log } from '../log/logger.ts'
import type { Bus } from './bus.ts'

/** Publishes to a topic. Never rejects: the announced change is already committed. */
export type Announce = (topic: string, value: unknown) => Promise<void>

export function createAnnounce(topics: Bus, log: Log): Announce {
  return (topic, value) =>
    topics.publish(topic, value).catch((error: unknown) => {
      // A bus that is down has been logged once; that need not be repeated for every value.
      if (topics.isUp()) log.error({ err: error, topic }, 'a value was not published')
    })
}
