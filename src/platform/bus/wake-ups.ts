/** Tells all threads and nodes that there may be something to do. Nothing depends on its arrival. */
import type { Log } from '../log/logger.ts'
import type { Bus } from './bus.ts'

export interface WakeUps {
  wake(): void
  close(): void
}

export interface WakeUpsOptions {
  bus: Bus
  topic: string
  log: Log
  onWake(): void
}

/** A thread sends at most one message in so long: the first at once. */
const gatherMs = 50

export async function createWakeUps({ bus, topic, log, onWake }: WakeUpsOptions): Promise<WakeUps> {
  let isQuiet = true
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  function publish(): void {
    isDue = false
    isQuiet = false
    bus.publish(topic, 1).catch((error: unknown) => log.debug({ err: error, topic }, 'a wake-up could not be sent'))
    timer = setTimeout(() => {
      isQuiet = true
      if (isDue) publish()
    }, gatherMs).unref()
  }

  const unsubscribe = await bus.subscribe(topic, onWake)
  const forgetGaps = bus.onGap(onWake)
  return {
    wake() {
      // Not by the bus, whose messages take a round trip.
      onWake()
      if (isQuiet) publish()
      else isDue = true
    },
    close() {
      clearTimeout(timer)
      unsubscribe()
      forgetGaps()
    },
  }
}
