/** Publish/subscribe: a value published to a topic reaches every subscriber of that topic, on every node. */

export type Unsubscribe = () => void
export type Listener = (value: unknown) => void

export interface Bus {
  /**
   * Sent as JSON; subscribers of one node share one copy. Resolves when the carrier has accepted the value, and rejects
   * within a second otherwise. Values of one publisher to one topic arrive in order.
   */
  publish(topic: string, value: unknown): Promise<void>
  /** Resolves once values published from now on, on any node, will arrive. Rejects while the bus is down. */
  subscribe(topic: string, listener: Listener): Promise<Unsubscribe>
  /** The listener is called when values may have been missed, because the connection was lost and restored. */
  onGap(listener: () => void): Unsubscribe
  /** False while values can be neither received nor published. */
  isUp(): boolean
  /** Stops delivery; later calls are refused. */
  close(): Promise<void>
}

export function encode(topic: string, value: unknown): string {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`a value for the topic "${topic}" cannot be written as JSON`)
  return text
}
