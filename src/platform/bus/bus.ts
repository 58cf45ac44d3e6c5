/** Publish and subscribe: a value published to a topic reaches every subscriber of that topic, on every node. */

export type Unsubscribe = () => void
export type Listener = (value: unknown) => void

export interface Bus {
  /**
   * The value travels as JSON, so subscribers get a copy, which those of one node share. Resolves when it is on its way,
   * rejects within a second where it is not known to be; values of one publisher to one topic arrive in order.
   */
  publish(topic: string, value: unknown): Promise<void>
  /** Resolves when values published from now on, anywhere, will arrive. Rejects while they could not. */
  subscribe(topic: string, listener: Listener): Promise<Unsubscribe>
  /** Is told when values may have been missed: the connection was lost and is back. */
  onGap(listener: () => void): Unsubscribe
  /** False while values cannot arrive, or nobody could be told of them. */
  isUp(): boolean
  /** Nothing is delivered any more, and what is asked later is refused. */
  close(): Promise<void>
}

/** A value as it travels. */
export function encode(topic: string, value: unknown): string {
  const text = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`a value for the topic "${topic}" cannot be written as JSON`)
  return text
}
