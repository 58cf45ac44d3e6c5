import type { GraphQLFormattedError } from 'graphql'
import type { Client } from '../../http/client.ts'
import type { GraphQLResponse, LiveSubscription, Subscriber } from '../execution/engine.types.ts'
import type { OperationId, Protocol } from './protocol.ts'
import type { SocketWriter } from './socket-writer.ts'

export interface OperationConnection {
  readonly protocol: Protocol
  readonly writer: SocketWriter
  forget(operation: SocketOperation): void
}

export interface SocketOperationOptions {
  connection: OperationConnection
  id: OperationId | undefined
  isSubscription: boolean
  /** The length of its message in bytes. */
  size: number
}

export class SocketOperation implements Subscriber {
  readonly id: OperationId | undefined
  readonly isSubscription: boolean
  readonly size: number
  readonly prefix: string
  readonly #connection: OperationConnection
  #live: LiveSubscription | undefined
  #isOver = false
  readonly #listeners = new Set<() => void>()

  constructor({ connection, id, isSubscription, size }: SocketOperationOptions) {
    this.id = id
    this.isSubscription = isSubscription
    this.size = size
    this.prefix = connection.protocol.prefixOf(id)
    this.#connection = connection
  }

  /** Operations without an id are their own key. */
  get key(): unknown {
    return this.id ?? this
  }

  next(texts: readonly string[]): void {
    if (!this.#isOver) this.#connection.protocol.sendValues(this.#connection.writer, this, texts)
  }

  ready(): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#connection.writer.ready()
  }

  end(errors?: readonly GraphQLFormattedError[]): void {
    if (this.#finish()) this.#connection.protocol.sendEnd(this.#connection.writer, this.id, errors)
  }

  /** The operation may already be over: the socket was closed, or the client has sent `complete`. */
  attach(live: LiveSubscription): void {
    if (this.#isOver) live.close()
    else this.#live = live
  }

  respond({ text }: GraphQLResponse): void {
    if (!this.#finish()) return
    this.#connection.protocol.sendResponse(this.#connection.writer, this, text)
  }

  refuse(errors: readonly GraphQLFormattedError[]): void {
    if (this.#finish()) this.#connection.protocol.sendRefusal(this.#connection.writer, this.id, errors)
  }

  /** Call when the user's rights have changed. */
  async recheck(): Promise<void> {
    await this.#live?.recheck()
  }

  /** Ends the operation without a message to the client. */
  close(): void {
    if (!this.#finish()) return
    this.#live?.close()
    for (const listener of this.#listeners) listener()
  }

  /** The client of this operation alone, who is gone as soon as it is over. */
  clientOf(client: Client): Client {
    return {
      ...client,
      isGone: () => this.#isOver,
      onGone: (listener) => {
        this.#listeners.add(listener)
        return () => void this.#listeners.delete(listener)
      },
    }
  }

  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#connection.forget(this)
    return true
  }
}
