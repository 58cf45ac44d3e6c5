import type { Bus } from './bus.ts'

/**
 * A bus between nodes. While its connection is away, values still reach the subscribers of their own node, by `local`. Those
 * whose fate is unknown may then arrive twice.
 */
export function withLocalFallback(between: Bus, local: Bus): Bus {
  return {
    ...between,
    async publish(topic, value) {
      try {
        await between.publish(topic, value)
      } catch (error) {
        await local.publish(topic, value)
        throw error
      }
    },
    async subscribe(topic, listener) {
      const unsubscribe = await between.subscribe(topic, listener)
      const unsubscribeLocally = await local.subscribe(topic, listener)
      return () => {
        unsubscribe()
        unsubscribeLocally()
      }
    },
    async close() {
      await local.close()
      await between.close()
    },
  }
}
