/** One client, from its handshake until it leaves: who it is, what it sends, and how it is closed. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { AppError } from '../../../core/app-error.ts'
import type { LiveAccess } from '../../access/live-access.ts'
import type { Authenticate } from '../../access/route-guards.ts'
import type { Client } from '../../http/client.ts'
import type { AddressBudgets, Share } from '../../limiter/address-budgets.ts'
import type { Engine } from '../execution/engine.types.ts'
import { withWrittenNumbers } from '../execution/exact-json.ts'
import type { FairTurns } from '../execution/fair-turns.ts'
import type { ContextLog } from '../schema/elements.ts'
import { type CloseReason, closeReasons } from './close-reasons.ts'
import { Identity } from './identity.ts'
import { Inbox, maxMessageBytes } from './inbox.ts'
import type { Begin, OperationId, Protocol } from './protocol.ts'
import { SocketOperations } from './socket-operations.ts'
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
  readonly #identity: Identity
  readonly #log: ConnectionLog
  readonly #operations: SocketOperations
  readonly #inbox: Inbox
  readonly #share: Share
  #hasInit = false
  #isIdentifying = false
  #isReleased = false
  #leaving: CloseReason | undefined

  constructor({ ws, socket, protocol, client, authenticate, log, deps }: ConnectionOptions) {
    this.protocol = protocol
    this.isReady = !protocol.needsInit
    this.#deps = deps
    this.#identity = new Identity({
      authenticate,
      liveAccess: deps.liveAccess,
      onChange: (principal) => this.#operations.recheck(principal),
      onEnd: () => this.close(closeReasons.forbidden),
    })
    this.#log = log
    this.#share = deps.budgets.open(client.address, () => this.#cutOff())
    this.writer = new SocketWriter({ ws, socket, onHeld: () => this.#account(), onTooSlow: () => this.release() })
    this.#operations = new SocketOperations({
      protocol,
      writer: this.writer,
      engine: deps.engine,
      identity: this.#identity,
      client,
      share: this.#share,
      maxSubscriptions: deps.maxSubscriptions,
      log,
      onHeld: () => this.#account(),
      onDone: () => this.#goOn(),
      onForbidden: () => this.close(closeReasons.forbidden),
    })
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

  begin(begin: Begin): void {
    if (begin.id !== undefined && this.#operations.has(begin.id)) this.protocol.repeated(this, begin.id)
    else this.#operations.begin(begin)
  }

  complete(id: OperationId): void {
    this.#operations.complete(id)
  }

  /** To be called now and then: the client may have read since, and others may have made room. */
  look(): void {
    this.#account()
    this.#inbox.goOn()
  }

  /** Tells its address's budget what it holds. */
  #account(): void {
    this.#share.hold(this.#inbox.heldBytes + this.#operations.heldBytes + this.writer.heldBytes)
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
    if (!this.#operations.areUnderWay) this.close(reason)
  }

  /** Ends all that is done for the client. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#identity.release()
    this.#operations.closeAll()
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
    if (this.#leaving && !this.#operations.areUnderWay) this.close(this.#leaving)
    this.#inbox.goOn()
  }
}
