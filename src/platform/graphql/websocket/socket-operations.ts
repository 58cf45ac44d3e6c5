/** The operations of one socket that are not over, and the room that they take. */
import type { Principal } from '../../access/route-guards.ts'
import type { Client } from '../../http/client.ts'
import type { Share } from '../../limiter/address-budgets.ts'
import type { Engine, Prepared } from '../execution/engine.types.ts'
import { formatThrown } from '../execution/graphql-errors.ts'
import { RefusedRequest } from '../execution/refused-request.ts'
import type { ContextLog } from '../schema/elements.ts'
import type { Identity } from './identity.ts'
import { OperationRoom } from './operation-room.ts'
import type { Begin, OperationId, Protocol } from './protocol.ts'
import { type OperationConnection, SocketOperation } from './socket-operation.ts'
import type { SocketWriter } from './socket-writer.ts'

export interface SocketOperationsOptions {
  protocol: Protocol
  writer: SocketWriter
  engine: Engine
  identity: Identity
  client: Client
  share: Share
  maxSubscriptions: number
  log: ContextLog
  /** What they hold in memory has changed. */
  onHeld(): void
  /** An answer has been sent, or a subscription has begun. */
  onDone(): void
  /** The client's token is no longer good. */
  onForbidden(): void
}

export class SocketOperations implements OperationConnection {
  readonly protocol: Protocol
  readonly writer: SocketWriter
  readonly #options: SocketOperationsOptions
  readonly #operations = new Map<unknown, SocketOperation>()
  readonly #room: OperationRoom
  #underWay = 0

  constructor(options: SocketOperationsOptions) {
    this.protocol = options.protocol
    this.writer = options.writer
    this.#options = options
    this.#room = new OperationRoom(options.share, options.maxSubscriptions)
  }

  get heldBytes(): number {
    return this.#room.heldBytes
  }

  /** Whether some are neither answered nor begun. */
  get areUnderWay(): boolean {
    return this.#underWay > 0
  }

  has(id: OperationId): boolean {
    return this.#operations.has(id)
  }

  begin({ id, request, size }: Begin): void {
    const { engine, share, log, onHeld } = this.#options
    let prepared: Prepared
    try {
      prepared = engine.prepare(request)
      this.#room.take({ isSubscription: prepared.kind === 'subscription', size })
    } catch (error) {
      this.protocol.refused(this.writer, id, this.#errorsOf(error))
      return
    }
    const operation = new SocketOperation({
      connection: this,
      id,
      isSubscription: prepared.kind === 'subscription',
      size,
    })
    this.#operations.set(operation.key, operation)
    this.#underWay += 1
    share.addOperation()
    onHeld()
    void this.#run(operation, prepared).catch((error: unknown) => log.error({ err: error }, 'an operation failed'))
  }

  /** The client needs it no longer. One that is over already is no mistake: the messages have crossed. */
  complete(id: OperationId): void {
    this.#operations.get(id)?.close()
  }

  /** For an operation that is over. */
  forget(operation: SocketOperation): void {
    this.#operations.delete(operation.key)
    this.#room.giveBack(operation)
    this.#options.onHeld()
  }

  /** The rights of their user have changed. */
  recheck(principal: Principal): void {
    const { log } = this.#options
    for (const operation of this.#operations.values()) {
      operation.recheck(principal).catch((error: unknown) => operation.end([formatThrown(error, log)]))
    }
  }

  closeAll(): void {
    for (const operation of this.#operations.values()) operation.close()
  }

  async #run(operation: SocketOperation, prepared: Prepared): Promise<void> {
    const { engine, identity, client, log, share, onDone, onForbidden } = this.#options
    const principal = identity.principal
    const context = { principal, client, log }
    try {
      if (operation.isSubscription) {
        operation.begun(await engine.subscribe(prepared, context, operation))
        // The rights may have changed while it began.
        if (identity.principal && identity.principal !== principal) await operation.recheck(identity.principal)
      } else if (await identity.isStillGood()) {
        const fresh = { ...context, principal: identity.principal }
        operation.answer(await engine.execute(prepared, fresh))
      } else onForbidden()
    } catch (error) {
      operation.refuse(this.#errorsOf(error))
    }
    this.#underWay -= 1
    share.removeOperation()
    onDone()
  }

  #errorsOf(error: unknown) {
    const { engine, log } = this.#options
    const errors = error instanceof RefusedRequest ? error.errors : [formatThrown(error, log)]
    engine.countErrors(errors)
    return errors
  }
}
