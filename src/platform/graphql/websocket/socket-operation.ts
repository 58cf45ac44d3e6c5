/** One operation of a socket, from its message until it is over. */
import type { GraphQLFormattedError } from 'graphql'
import type { Principal } from '../../access/route-guards.ts'
import type { Answer, LiveSubscription, Subscriber } from '../execution/engine.types.ts'
import type { OperationId, Protocol } from './protocol.ts'
import type { SocketWriter } from './socket-writer.ts'

/** What an operation needs of its connection. */
export interface OperationConnection {
  readonly protocol: Protocol
  readonly writer: SocketWriter
  forget(operation: SocketOperation): void
}

export interface SocketOperationOptions {
  connection: OperationConnection
  id: OperationId | undefined
  isSubscription: boolean
  /** The length of the message that asked for it. */
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

  constructor({ connection, id, isSubscription, size }: SocketOperationOptions) {
    this.id = id
    this.isSubscription = isSubscription
    this.size = size
    this.prefix = connection.protocol.prefixOf(id)
    this.#connection = connection
  }

  /** Those without an id are told apart by themselves. */
  get key(): unknown {
    return this.id ?? this
  }

  next(text: string): void {
    if (!this.#isOver) this.#connection.protocol.value(this.#connection.writer, this, text)
  }

  end(errors?: readonly GraphQLFormattedError[]): void {
    if (this.#finish()) this.#connection.protocol.ended(this.#connection.writer, this.id, errors)
  }

  /** It may have been over before it began: its socket was closed meanwhile, or the client has changed its mind. */
  begun(live: LiveSubscription): void {
    if (this.#isOver) live.close()
    else this.#live = live
  }

  answer({ text }: Answer): void {
    if (!this.#finish()) return
    this.#connection.protocol.answer(this.#connection.writer, this, text)
  }

  refuse(errors: readonly GraphQLFormattedError[]): void {
    if (this.#finish()) this.#connection.protocol.refused(this.#connection.writer, this.id, errors)
  }

  /** The rights of its user have changed. */
  async recheck(principal: Principal): Promise<void> {
    await this.#live?.recheck(principal)
  }

  /** The client needs it no longer, and is told nothing more of it. */
  close(): void {
    if (this.#finish()) this.#live?.close()
  }

  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#connection.forget(this)
    return true
  }
}
