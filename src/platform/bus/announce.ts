import type { Log } from '../log/logger.ts'
import type { Bus } from './bus.ts'

/** Publishes to a topic. Never rejects: what is announced has happened, whether or not anybody can be told. */
export type Announce = (topic: string, value: unknown) => Promise<void>

export function createAnnounce(topics: Bus, log: Log): Announce {
  return (topic, value) =>
    topics.publish(topic, value).catch((error: unknown) => {
      // That the bus is away has a line of its own, which need not be repeated for every value.
      if (topics.isUp()) log.error({ err: error, topic }, 'a value was not published')
    })
}
