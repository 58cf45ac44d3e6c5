/** The open operations of one socket. */
import { isClientGone } from '../../../core/current-client.ts'
import type { Client } from '../../http/client.ts'
import type { Share } from '../../limiter/address-budgets.ts'
import type { Engine, Prepared } from '../execution/engine.types.ts'
import { formatThrown } from '../execution/graphql-errors.ts'
import { RefusedRequest } from '../execution/refused-request.ts'
import type { ContextLog } from '../schema/elements.ts'
import type { Identity } from './identity.ts'
import { OperationQuota } from './operation-quota.ts'
import type { OperationId, OperationStart, Protocol } from './protocol.ts'
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
  /** `heldBytes` has changed. */
  onHeld(): void
  /** A response has been sent, or a subscription has been opened. */
  onDone(): void
  /** The client's token is no longer valid. */
  onForbidden(): void
}

export class SocketOperations implements OperationConnection {
  readonly protocol: Protocol
  readonly writer: SocketWriter
  readonly #options: SocketOperationsOptions
  readonly #operations = new Map<unknown, SocketOperation>()
  readonly #quota: OperationQuota
  #running = 0

  constructor(options: SocketOperationsOptions) {
    this.protocol = options.protocol
    this.writer = options.writer
    this.#options = options
    this.#quota = new OperationQuota(options.share, options.maxSubscriptions)
  }

  get heldBytes(): number {
    return this.#quota.heldBytes
  }

  /** Whether any query or mutation has no response yet, or any subscription is still being opened. */
  get areRunning(): boolean {
    return this.#running > 0
  }

  has(id: OperationId): boolean {
    return this.#operations.has(id)
  }

  start({ id, request, size }: OperationStart): void {
    const { engine, share, log, onHeld } = this.#options
    let prepared: Prepared
    try {
      prepared = engine.prepare(request)
      this.#quota.reserve({ isSubscription: prepared.kind === 'subscription', size })
    } catch (error) {
      this.protocol.sendRefusal(this.writer, id, this.#errorsOf(error))
      return
    }
    const operation = new SocketOperation({
      connection: this,
      id,
      isSubscription: prepared.kind === 'subscription',
      size,
    })
    this.#operations.set(operation.key, operation)
    this.#running += 1
    share.addOperation()
    onHeld()
    void this.#run(operation, prepared).catch((error: unknown) => log.error({ err: error }, 'an operation failed'))
  }

  /** Ignores unknown ids: the operation may have ended while the client's message was on its way. */
  complete(id: OperationId): void {
    this.#operations.get(id)?.close()
  }

  /** Called by operations that have ended. */
  forget(operation: SocketOperation): void {
    this.#operations.delete(operation.key)
    this.#quota.release(operation)
    this.#options.onHeld()
  }

  /** Call when the user's rights have changed. */
  recheck(): void {
    const { log } = this.#options
    for (const operation of this.#operations.values()) {
      operation.recheck().catch((error: unknown) => operation.end([formatThrown(error, log)]))
    }
  }

  closeAll(): void {
    for (const operation of this.#operations.values()) operation.close()
  }

  async #run(operation: SocketOperation, prepared: Prepared): Promise<void> {
    const { engine, identity, client, log, share, onDone, onForbidden } = this.#options
    const { changes } = identity
    const context = { principal: identity.principal, client, log }
    try {
      if (operation.isSubscription) {
        operation.attach(await engine.subscribe(prepared, context, operation))
        // Rights may have changed while the subscription was being opened.
        if (identity.changes !== changes) await operation.recheck()
      } else if (await identity.isStillValid()) {
        operation.respond(await engine.execute(prepared, { ...context, client: operation.clientOf(client) }))
      } else onForbidden()
    } catch (error) {
      if (!isClientGone(error)) operation.refuse(this.#errorsOf(error))
    }
    this.#running -= 1
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
