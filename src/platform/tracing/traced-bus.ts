/** A bus whose publications and deliveries are spans. */
import type { Bus, Listener } from '../bus/bus.ts'
import type { Tracing } from './tracing.ts'

/** `system` is what carries the values, as in `messaging.system`. */
export function traceBus(bus: Bus, tracing: Tracing, system: string): Bus {
  const attributesOf = (topic: string, operation: 'publish' | 'deliver') => ({
    'messaging.system': system,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation === 'publish' ? 'send' : 'process',
    'messaging.destination.name': topic,
  })

  function tracedListener(topic: string, listener: Listener): Listener {
    return (value) => {
      const span = tracing.start({
        name: `deliver ${topic}`,
        kind: 'consumer',
        attributes: attributesOf(topic, 'deliver'),
      })
      try {
        // Returned, because the bus logs the failure of an async listener.
        return tracing.run(span, () => listener(value))
      } catch (error) {
        span.fail(error instanceof Error ? error.name : 'Error')
        throw error
      } finally {
        span.end()
      }
    }
  }

  return {
    ...bus,
    publish: (topic, value) =>
      tracing.span({ name: `publish ${topic}`, kind: 'producer', attributes: attributesOf(topic, 'publish') }, () =>
        bus.publish(topic, value),
      ),
    subscribe: (topic, listener) => bus.subscribe(topic, tracedListener(topic, listener)),
  }
}
