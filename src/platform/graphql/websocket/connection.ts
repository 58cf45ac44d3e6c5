/** One client: who it is, what it has asked for, and what it still waits for. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { AppError } from '../../../core/app-error.ts'
import type { LiveAccess } from '../../access/live-access.ts'
import type { Authenticate, Principal } from '../../access/route-guards.ts'
import type { Client } from '../../http/client.ts'
import type { AddressBudgets, Share } from '../../limiter/address-budgets.ts'
import type { Engine, Prepared } from '../execution/engine.types.ts'
import { withWrittenNumbers } from '../execution/exact-json.ts'
import type { FairTurns } from '../execution/fair-turns.ts'
import { formatThrown } from '../execution/graphql-errors.ts'
import { RefusedRequest } from '../execution/refused-request.ts'
import type { ContextLog } from '../schema/elements.ts'
import { type CloseReason, closeReasons } from './close-reasons.ts'
import { Identity } from './identity.ts'
import { Inbox, maxMessageBytes } from './inbox.ts'
import { OperationRoom } from './operation-room.ts'
import type { Begin, OperationId, Protocol } from './protocol.ts'
import { SocketOperation } from './socket-operation.ts'
import { SocketWriter } from './socket-writer.ts'

/** What all connections share. */
export interface ConnectionDeps {
  engine: Engine
  liveAccess: Pick<LiveAccess, 'watch'>
  turns: FairTurns
  budgets: AddressBudgets
  maxSubscriptions: number
  /** Of a message before its client has shown a valid token. */
  maxAnonymousMessage: number
  /** Is called once, when nothing more is to be done for it. The socket may still be closing. */
  onReleased(connection: Connection): void
}

export interface ConnectionOptions {
  ws: WebSocket
  socket: Duplex
  protocol: Protocol
  client: Client
  /** For what this client is to be known by. */
  authenticate: Authenticate
  log: ConnectionLog
  deps: ConnectionDeps
}

type ConnectionLog = ContextLog & { info(details: object, text: string): void }

/** A client that leaves more of its answers unread is not read from until it has caught up. */
const maxUnreadBytes = 256 * 1024

export class Connection {
  readonly protocol: Protocol
  readonly writer: SocketWriter
  readonly openedAt = performance.now()
  /** Whether operations are served. */
  isReady: boolean
  /** It has been heard of since it was last asked. */
  isAlive = true
  readonly #deps: ConnectionDeps
  readonly #client: Client
  readonly #identity: Identity
  readonly #log: ConnectionLog
  readonly #operations = new Map<unknown, SocketOperation>()
  readonly #inbox: Inbox
  readonly #share: Share
  readonly #room: OperationRoom
  #underWay = 0
  #hasInit = false
  #isIdentifying = false
  #isReleased = false
  #leaving: CloseReason | undefined

  constructor({ ws, socket, protocol, client, authenticate, log, deps }: ConnectionOptions) {
    this.protocol = protocol
    this.isReady = !protocol.needsInit
    this.#deps = deps
    this.#client = client
    this.#identity = new Identity({
      authenticate,
      liveAccess: deps.liveAccess,
      onChange: (principal) => this.#recheck(principal),
      onEnd: () => this.close(closeReasons.forbidden),
    })
    this.#log = log
    this.#share = deps.budgets.open(client.address, () => this.#cutOff())
    this.#room = new OperationRoom(this.#share, deps.maxSubscriptions)
    this.writer = new SocketWriter({ ws, socket, onHeld: () => this.#account(), onTooSlow: () => this.release() })
    this.#inbox = new Inbox({
      ws,
      socket,
      turns: deps.turns,
      line: this.#share.key,
      maxLength: deps.maxAnonymousMessage,
      onMessage: (data, isBinary) => this.#read(data, isBinary),
      isBlocked: () => this.#isBlocked,
      hasRoom: () => this.#share.hasRoomForOperation(() => this.#inbox.goOn()),
      onHeld: () => {
        this.isAlive = true
        this.#account()
      },
      onTooLong: () => this.close(closeReasons.tooLong),
    })
    socket.on('drain', () => this.#goOn())
    ws.on('ping', (data: Buffer) => this.writer.pong(data))
    // What breaks the protocol; the library closes the socket by itself. Unheard, the event would end the process.
    ws.on('error', () => this.release())
    ws.on('close', () => this.#share.close())
  }

  get hasInit(): boolean {
    return this.#hasInit
  }

  /** Returns false where the client has introduced itself before. */
  beginInit(): boolean {
    if (this.#hasInit) return false
    this.#hasInit = true
    return true
  }

  /** What arrives meanwhile waits. Without a token, because what was given is none, the answer is known. */
  identify(token: string | undefined, onDone: () => void = () => {}): void {
    if (token === undefined) {
      this.close(closeReasons.forbidden)
      return
    }
    this.#isIdentifying = true
    // The message that follows may be a long one, which is allowed once the token is known to be valid.
    this.writer.pause()
    void this.#prove(token, onDone)
  }

  async #prove(token: string, onDone: () => void): Promise<void> {
    try {
      const isGood = await this.#identity.prove(token, () => !this.#isReleased)
      if (this.#isReleased) return
      if (!isGood) return this.close(closeReasons.forbidden)
      this.#isIdentifying = false
      this.#inbox.maxLength = maxMessageBytes
      onDone()
      this.#goOn()
    } catch (error) {
      this.#log.error({ err: error }, 'a token could not be checked')
      const isAway = error instanceof AppError && error.status === 503
      this.close(isAway ? closeReasons.unavailable : closeReasons.internal)
    }
  }

  begin({ id, request, size }: Begin): void {
    if (id !== undefined && this.#operations.has(id)) {
      this.protocol.repeated(this, id)
      return
    }
    let prepared: Prepared
    try {
      prepared = this.#deps.engine.prepare(request)
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
    this.#share.addOperation()
    this.#account()
    void this.#run(operation, prepared).catch((error: unknown) =>
      this.#log.error({ err: error }, 'an operation failed'),
    )
  }

  /** The client needs it no longer. One that is over already is no mistake: the messages have crossed. */
  complete(id: OperationId): void {
    this.#operations.get(id)?.close()
  }

  /** For an operation that is over. */
  forget(operation: SocketOperation): void {
    this.#operations.delete(operation.key)
    this.#room.giveBack(operation)
    this.#account()
  }

  /** To be called now and then: the client may have read since, and others may have made room. */
  look(): void {
    this.#account()
    this.#inbox.goOn()
  }

  /** Tells its address's budget what it holds. */
  #account(): void {
    this.#share.hold(this.#inbox.heldBytes + this.#room.heldBytes + this.writer.heldBytes)
  }

  /** For how long a message has been unfinished; undefined where none is. */
  unfinishedMs(now: number): number | undefined {
    return this.#inbox.unfinishedMs(now)
  }

  close(reason: CloseReason): void {
    this.release()
    this.writer.close(reason)
  }

  /** Lets what is under way be answered, then closes. Nothing new is begun. */
  leave(reason: CloseReason): void {
    this.#leaving = reason
    this.#inbox.clear()
    if (this.#underWay === 0) this.close(reason)
  }

  /** Ends all that is done for the client. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#identity.release()
    for (const operation of this.#operations.values()) operation.close()
    this.#inbox.close()
    this.#deps.onReleased(this)
  }

  /** At once: what waits to be read, or to be finished, is given back. The client may not get the reason any more. */
  #cutOff(): void {
    this.#log.info({}, 'a socket was cut off: its address holds too many bytes')
    this.close(closeReasons.addressFull)
    this.writer.terminate()
  }

  #read(data: Buffer, isBinary: boolean): void {
    if (this.#leaving) return
    if (isBinary) {
      this.protocol.receiveBroken(this)
      return
    }
    const text = data.toString()
    let message: unknown
    try {
      message = withWrittenNumbers(JSON.parse(text), text)
    } catch {
      this.protocol.receiveBroken(this)
      return
    }
    try {
      this.protocol.receive(this, message, data.length)
    } catch (error) {
      // Nobody above would catch it: one client's message would end everybody's process.
      this.#log.error({ err: error }, 'a message could not be handled')
      this.close(closeReasons.internal)
    }
  }

  get #isBlocked(): boolean {
    return this.#isIdentifying || this.writer.heldBytes > maxUnreadBytes
  }

  #goOn(): void {
    if (this.#leaving && this.#underWay === 0) this.close(this.#leaving)
    this.#inbox.goOn()
  }

  async #run(operation: SocketOperation, prepared: Prepared): Promise<void> {
    const principal = this.#identity.principal
    const context = { principal, client: this.#client, log: this.#log }
    try {
      if (operation.isSubscription) {
        operation.begun(await this.#deps.engine.subscribe(prepared, context, operation))
        // The rights may have changed while it began.
        if (this.#identity.principal && this.#identity.principal !== principal)
          await operation.recheck(this.#identity.principal)
      } else if (await this.#identity.isStillGood()) {
        const fresh = { ...context, principal: this.#identity.principal }
        operation.answer(await this.#deps.engine.execute(prepared, fresh))
      } else this.close(closeReasons.forbidden)
    } catch (error) {
      operation.refuse(this.#errorsOf(error))
    }
    this.#underWay -= 1
    this.#share.removeOperation()
    this.#goOn()
  }

  #errorsOf(error: unknown) {
    const errors = error instanceof RefusedRequest ? error.errors : [formatThrown(error, this.#log)]
    this.#deps.engine.countErrors(errors)
    return errors
  }

  #recheck(principal: Principal): void {
    for (const operation of this.#operations.values()) {
      operation.recheck(principal).catch((error: unknown) => operation.end([formatThrown(error, this.#log)]))
    }
  }
}
