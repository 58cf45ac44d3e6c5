/** One socket after its handshake: wires identity, inbox, operations and writer, and closes them together. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { AppError } from '../../../core/app-error.ts'
import type { LiveAccess } from '../../access/live-access.ts'
import type { Authenticate } from '../../access/route-guards.ts'
import type { Client } from '../../http/client.ts'
import type { AddressBudgets, Share } from '../../limiter/address-budgets.ts'
import type { Engine } from '../execution/engine.types.ts'
import { withExactNumbers } from '../execution/exact-json.ts'
import type { FairScheduler } from '../execution/fair-scheduler.ts'
import type { ContextLog } from '../schema/elements.ts'
import { type CloseReason, closeReasons } from './close-reasons.ts'
import { Identity } from './identity.ts'
import { Inbox, maxMessageBytes } from './inbox.ts'
import type { OperationId, OperationStart, Protocol } from './protocol.ts'
import { SocketOperations } from './socket-operations.ts'
import { SocketWriter } from './socket-writer.ts'

/** Shared by all connections. */
export interface ConnectionDeps {
  engine: Engine
  liveAccess: Pick<LiveAccess, 'watch'>
  scheduler: FairScheduler
  budgets: AddressBudgets
  maxSubscriptions: number
  /** Limit in bytes of a message before the client has authenticated. */
  maxAnonymousMessage: number
  /** Called once all resources are released. The socket may still be closing. */
  onReleased(connection: Connection): void
}

export interface ConnectionOptions {
  ws: WebSocket
  socket: Duplex
  protocol: Protocol
  client: Client
  /** For this endpoint's kind of token. */
  authenticate: Authenticate
  log: ConnectionLog
  deps: ConnectionDeps
}

type ConnectionLog = ContextLog & { info(details: object, text: string): void }

/** Backpressure: beyond it nothing is read from the client until it has caught up. */
const maxUnreadBytes = 256 * 1024

export class Connection {
  readonly protocol: Protocol
  readonly writer: SocketWriter
  readonly openedAt = performance.now()
  /** Whether operations are accepted. */
  isReady: boolean
  /** Whether data has been received since the last ping. */
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
  #drainReason: CloseReason | undefined

  constructor({ ws, socket, protocol, client, authenticate, log, deps }: ConnectionOptions) {
    this.protocol = protocol
    this.isReady = !protocol.needsInit
    this.#deps = deps
    this.#identity = new Identity({
      authenticate,
      liveAccess: deps.liveAccess,
      onChange: () => this.#operations.recheck(),
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
      onDone: () => this.#resume(),
      onForbidden: () => this.close(closeReasons.forbidden),
    })
    this.#inbox = new Inbox({
      ws,
      socket,
      scheduler: deps.scheduler,
      queueKey: this.#share.key,
      maxLength: deps.maxAnonymousMessage,
      onMessage: (data, isBinary) => this.#read(data, isBinary),
      isBlocked: () => this.#isBlocked,
      hasRoom: () => this.#share.hasRoomForOperation(() => this.#inbox.resume()),
      onHeld: () => {
        this.isAlive = true
        this.#account()
      },
      onTooLong: () => this.close(closeReasons.tooLong),
    })
    socket.on('drain', () => this.#resume())
    ws.on('ping', (data: Buffer) => this.writer.pong(data))
    // Protocol violations; `ws` closes the socket itself. Without a listener the event would end the process.
    ws.on('error', () => this.release())
    ws.on('close', () => this.#share.close())
  }

  get hasInit(): boolean {
    return this.#hasInit
  }

  /** Returns false for a second connection_init. */
  beginInit(): boolean {
    if (this.#hasInit) return false
    this.#hasInit = true
    return true
  }

  /** Messages wait until the token is checked. `token` is undefined if the credential is malformed. */
  identify(token: string | undefined, onDone: () => void = () => {}): void {
    if (token === undefined) {
      this.close(closeReasons.forbidden)
      return
    }
    this.#isIdentifying = true
    // The next message may be a long one, which is allowed only after authentication.
    this.writer.pause()
    void this.#authenticate(token, onDone)
  }

  async #authenticate(token: string, onDone: () => void): Promise<void> {
    try {
      const isValid = await this.#identity.authenticate(token, () => !this.#isReleased)
      if (this.#isReleased) return
      if (!isValid) return this.close(closeReasons.forbidden)
      this.#isIdentifying = false
      this.#inbox.maxLength = maxMessageBytes
      onDone()
      this.#resume()
    } catch (error) {
      this.#log.error({ err: error }, 'a token could not be checked')
      const isUnavailable = error instanceof AppError && error.status === 503
      this.close(isUnavailable ? closeReasons.unavailable : closeReasons.internal)
    }
  }

  start(operation: OperationStart): void {
    const { id } = operation
    if (id !== undefined && this.#operations.has(id)) this.protocol.sendDuplicateId(this, id)
    else this.#operations.start(operation)
  }

  complete(id: OperationId): void {
    this.#operations.complete(id)
  }

  /** Call periodically: the client may have read, and other connections may have freed budget. */
  refresh(): void {
    this.#account()
    this.#inbox.resume()
  }

  /** Updates the address's budget with the held bytes. */
  #account(): void {
    this.#share.hold(this.#inbox.heldBytes + this.#operations.heldBytes + this.writer.heldBytes)
  }

  /** Time since an incomplete message began; undefined if there is none. */
  incompleteMs(now: number): number | undefined {
    return this.#inbox.incompleteMs(now)
  }

  close(reason: CloseReason): void {
    this.release()
    this.writer.close(reason)
  }

  /** Closes once running operations have completed. Starts no new ones. */
  drain(reason: CloseReason): void {
    this.#drainReason = reason
    this.#inbox.clear()
    if (!this.#operations.areRunning) this.close(reason)
  }

  /** Ends all operations and frees their resources. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#identity.release()
    this.#operations.closeAll()
    this.#inbox.close()
    this.#deps.onReleased(this)
  }

  /** Frees buffers immediately; the close frame may not reach the client. */
  #cutOff(): void {
    this.#log.info({}, 'a socket was cut off: its address holds too many bytes')
    this.close(closeReasons.addressFull)
    this.writer.terminate()
  }

  #read(data: Buffer, isBinary: boolean): void {
    if (this.#drainReason) return
    if (isBinary) {
      this.protocol.receiveMalformed(this)
      return
    }
    const text = data.toString()
    let message: unknown
    try {
      message = withExactNumbers(JSON.parse(text), text)
    } catch {
      this.protocol.receiveMalformed(this)
      return
    }
    try {
      this.protocol.receive(this, message, data.length)
    } catch (error) {
      // Uncaught, it would end the process.
      this.#log.error({ err: error }, 'a message could not be handled')
      this.close(closeReasons.internal)
    }
  }

  get #isBlocked(): boolean {
    return this.#isIdentifying || this.writer.heldBytes > maxUnreadBytes
  }

  #resume(): void {
    if (this.#drainReason && !this.#operations.areRunning) this.close(this.#drainReason)
    this.#inbox.resume()
  }
}
