/** Publish and subscribe: a value published to a topic reaches every subscriber of that topic, on every node. */

export type Unsubscribe = () => void

export interface Bus {
  /**
   * The value travels as JSON, so subscribers get a copy. Resolves when it is on its way; values of one publisher to
   * one topic arrive in order.
   */
  publish(topic: string, value: unknown): Promise<void>
  /** Resolves when values published from now on, anywhere, will arrive. */
  subscribe(topic: string, listener: (value: unknown) => void): Promise<Unsubscribe>
  /** Is told when values may have been missed: the connection was lost and is back. */
  onGap(listener: () => void): Unsubscribe
  /** Throws while values cannot arrive. */
  check(): Promise<void>
  close(): Promise<void>
}
