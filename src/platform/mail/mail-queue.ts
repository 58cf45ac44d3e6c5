/**
 * Mail is stored with the change that it is about, then sent; a crash loses none. What the mail server does not accept is
 * sent again, later and later, and ends as a dead letter. No mail waits for another.
 */
import type { Clock } from '../../core/clock.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../core/concurrency-limit.ts'
import { errorMessage } from '../../core/error-message.ts'
import { pause } from '../../core/pause.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Random } from '../../core/random.ts'
import { withTimeout } from '../../core/timeout.ts'
import { createDeadLetterStore, failureOf } from '../changes/dead-letters.store.ts'
import type { Database, Param, Statement } from '../database/database.ts'
import type { Log } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Encryption } from '../secrets/encryption.ts'
import { isPermanentFailure, type MailTransport, type Message } from './mail.ts'
import { createQueuedMailStore, type QueuedMailRow } from './queued-mails.store.ts'

export interface NewMail {
  /** In metrics, the log and dead letters, such as `password_reset`. */
  kind: string
  /** The mail is deleted with this user. */
  userId: Param
  message: Message
  /** It is given up if it was not delivered by then. */
  lifetimeSeconds: number
}

export interface PreparedMail {
  /** Stores the mail. For the batch with the change that it is about. */
  statement: Statement
  /** Call one of these once the batch is committed. */
  send(): void
  withdraw(): Promise<unknown>
}

export interface Mail {
  /** `log`: in development, mail is written to the log. */
  readonly delivery: MailTransport['delivery']
  prepare(mail: NewMail): PreparedMail
  /** Stores a mail and begins to send it. */
  post(mail: NewMail): Promise<void>
  /**
   * Runs `work` after the response, within `maxDelayMs` at random, so that neither its duration nor what it slows down shows
   * whether there is an account. A failure is logged as that of `what`.
   */
  afterResponse(what: string, work: () => Promise<void>): void
  /** Sends what other nodes, commands and crashes have left. */
  startBackground(): { close(): Promise<void> }
  /** Sends the mail of a dead letter once more. */
  redeliver(entry: unknown): Promise<void>
  close(): Promise<void>
}

export interface MailQueueOptions {
  transport: MailTransport
  db: Database
  clock: Clock
  random: Random
  encryption: Encryption
  metrics: Metrics | undefined
  log: Log
  /** Of `afterResponse`. */
  maxDelayMs: number
}

/** For `maxDelayMs`: longer than anything that such work makes others wait. */
export const maxMailDelayMs = 2000

/** Of the dead letters of mail. No durable listener may have this name. */
export const mailListener = 'mail'

interface Claimed {
  id: number
  kind: string
  message: Message
  attempts: number
  claimedUntil: number
  validUntil: number
}

/** What a dead letter keeps. */
type Entry = Pick<QueuedMailRow, 'id' | 'kind' | 'message' | 'valid_until'>

const everyMs = 2000
const maxSendMs = 45_000
/** Longer than a mail waits for its turn and is sent. */
const claimSeconds = 120
const maxWaitSeconds = 60
const atOnce = 4
const minute = 60
const hour = 60 * minute
/** The first attempt is made at once. */
const retryAfterSeconds = [15, minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour]
const maxCloseMs = 3000

export function createMailQueue(options: MailQueueOptions): Mail {
  const { transport, db, clock, random, encryption, metrics, log, maxDelayMs } = options
  const store = createQueuedMailStore(db)
  const deadLetters = createDeadLetterStore(db)
  const underWay = new Set<Promise<void>>()
  // What does not fit stays in the database until its claim ends.
  const inTurn: ConcurrencyLimit = createConcurrencyLimit({
    atOnce,
    maxWaiting: 100,
    refusal: () => new Error('too many mails are being sent'),
  })
  const closing = new AbortController()
  let senders = 0
  let isClosed = false
  const count = metrics?.addCounter({
    name: 'mails_total',
    help: 'Attempts to send a mail, by outcome. `given_up`: failed for good, and kept as a dead letter.',
    label: { name: 'outcome', values: ['sent', 'failed', 'given_up'] },
  })
  metrics?.addGauge({
    name: 'queued_mails',
    help: 'Mails that the mail server has not accepted yet, up to 10,000.',
    aggregator: 'max',
    read: store.count,
  })

  function prepare({ kind, userId, message, lifetimeSeconds }: NewMail): PreparedMail {
    const id = random.bytes(6).readUIntBE(0, 6)
    const now = clock.nowSeconds()
    const claimedUntil = now + claimSeconds
    const validUntil = now + lifetimeSeconds
    return {
      statement: store.insert({
        id,
        kind,
        user_id: userId,
        message: encryption.encrypt(JSON.stringify(message)),
        due_at: claimedUntil,
        valid_until: validUntil,
      }),
      send: () => void track(attemptInTurn({ id, kind, message, attempts: 0, claimedUntil, validUntil })),
      withdraw: () => db.write(store.remove(id)),
    }
  }

  function track(work: Promise<void>): Promise<void> {
    const tracked = work.catch(logFailure).finally(() => underWay.delete(tracked))
    underWay.add(tracked)
    return tracked
  }

  function logFailure(error: unknown): void {
    log.warn({ err: error }, 'a queued mail could not be handled; it is tried again later')
  }

  async function attemptInTurn(mail: Claimed): Promise<void> {
    await inTurn(async () => {
      const isLate = clock.nowSeconds() > mail.claimedUntil - claimSeconds + maxWaitSeconds
      if (!isLate && !isClosed) await attempt(mail)
    })
  }

  async function attempt(mail: Claimed): Promise<void> {
    const { id, kind, message, attempts, claimedUntil, validUntil } = mail
    if (clock.nowSeconds() >= validUntil) return giveUp(mail, expired())
    try {
      await deliver(id, message)
    } catch (error) {
      count?.('failed')
      const retryAfter = isPermanentFailure(error) ? undefined : retryAfterSeconds[attempts]
      const dueAt = clock.nowSeconds() + (retryAfter ?? 0)
      log.error({ err: error, kind, attempts: attempts + 1 }, 'a mail could not be sent')
      if (retryAfter === undefined || dueAt >= validUntil) return giveUp(mail, error)
      return store.postpone({ id, claimedUntil, dueAt })
    }
    await db.write(store.remove(id))
  }

  /** Work under way may begin more. */
  async function finish(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay)
  }

  async function deliver(id: number, message: Message): Promise<void> {
    await withTimeout(transport.send(id, message), maxSendMs)
    count?.('sent')
  }

  async function giveUp({ id, attempts }: Pick<Claimed, 'id' | 'attempts'>, error: unknown): Promise<void> {
    const row = await store.find(id)
    if (!row) return
    const { kind, message, valid_until } = row
    const entry: Entry = { id, kind, message, valid_until }
    const letter = {
      listener: mailListener,
      changeId: id,
      type: `mail.${kind}`,
      entityId: row.user_id,
      entry,
      attempts: Math.max(1, attempts + 1),
    }
    const [removed] = await db.write(
      store.remove(id),
      deadLetters.insert(letter, failureOf(withoutAddresses(error), clock.now())),
    )
    if (removed?.length) count?.('given_up')
  }

  /** As many at once as are sent at once, so that none is claimed long before its turn. */
  async function sendDue(): Promise<void> {
    if (!(await store.hasDue(clock.nowSeconds()))) return
    for (; senders < atOnce; senders++) {
      void sendOneByOne()
        .catch(logFailure)
        .finally(() => (senders -= 1))
    }
  }

  async function sendOneByOne(): Promise<void> {
    while (!closing.signal.aborted) {
      const now = clock.nowSeconds()
      const row = await store.claim(now, now + claimSeconds)
      if (!row) return
      await track(attemptRow(row))
    }
  }

  async function attemptRow(row: QueuedMailRow): Promise<void> {
    const { id, kind, attempts, due_at: claimedUntil, valid_until: validUntil } = row
    let message: Message
    try {
      message = decrypt(row.message)
    } catch (error) {
      return giveUp(row, error)
    }
    await attemptInTurn({ id, kind, message, attempts, claimedUntil, validUntil })
  }

  function decrypt(ciphertext: string): Message {
    try {
      return JSON.parse(encryption.decrypt(ciphertext).text)
    } catch (error) {
      throw new Error('The mail was encrypted with another secret', { cause: error })
    }
  }

  return {
    delivery: transport.delivery,
    prepare,
    async post(mail) {
      const { statement, send } = prepare(mail)
      await db.write(statement)
      send()
    },
    afterResponse(what, work) {
      void track(
        pause(random.fraction() * maxDelayMs, closing.signal)
          .then(work)
          .catch((error: unknown) => log.error({ err: error }, `${what} failed`)),
      )
    },
    startBackground() {
      const task = startPeriodicTask({ everyMs, work: sendDue, onError: logFailure })
      return {
        close() {
          // What is under way is waited for below.
          closing.abort()
          return task.close()
        },
      }
    },
    async redeliver(entry) {
      const { id, message, valid_until } = entry as Entry
      if (clock.nowSeconds() >= valid_until) throw expired()
      await deliver(id, decrypt(message)).catch((error: unknown) => {
        count?.('failed')
        throw withoutAddresses(error)
      })
    },
    async close() {
      closing.abort()
      await withTimeout(finish(), maxCloseMs).catch(() =>
        log.warn('a mail is still being sent; it stays queued unless the mail server accepts it'),
      )
      isClosed = true
      transport.close()
    },
  }
}

const expired = () => new Error('The mail has expired: what it is about is no longer valid')

/** Mail servers repeat addresses, and permission to see dead letters is not permission to see users. */
function withoutAddresses(error: unknown): Error {
  const words = errorMessage(error).split(/([\s<>])/)
  return new Error(words.map((word) => (word.includes('@') ? '(address)' : word)).join(''))
}
