/**
 * The bus over PostgreSQL's LISTEN and NOTIFY, on its own connection, because LISTEN is bound to a session.
 * https://www.postgresql.org/docs/current/sql-notify.html
 */
import { hash } from 'node:crypto'
import type pg from 'pg'
import { serviceUnavailable } from '../../core/app-error.ts'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { replyTimeoutMs, superviseConnection } from '../../core/supervised-connection.ts'
import { withTimeout } from '../../core/timeout.ts'
import { createHosts, type Hosts, type OpenedClient } from '../database/postgres/hosts.ts'
import { isTransactionPooled } from '../database/postgres/pooler.ts'
import { sessionStatement } from '../database/postgres/session.ts'
import type { Log } from '../log/logger.ts'
import { type Bus, encode } from './bus.ts'
import { createPayloadReader, toPayloads } from './notify-payloads.ts'
import { createNotifyQueue, notifySql } from './notify-queue.ts'
import { createTopics } from './topics.ts'

export interface PostgresBusOptions {
  url: string
  log: Log
  /** Separates buses on the same database. */
  prefix?: string
}

const connectTimeoutMs = 5000
const attemptTimeoutPerHostMs = 2500

export async function createPostgresBus({ url, log, prefix = '' }: PostgresBusOptions): Promise<Bus> {
  // LISTEN is not possible on a standby.
  const hosts = createHosts(url, { needsPrimary: true })
  /** Undefined while disconnected. */
  let client: pg.Client | undefined
  let pid = 0
  let isClosed = false
  let published = 0
  const topicsByChannel = new Map<string, string>()
  const payloads = createPayloadReader()
  const notify = createNotifyQueue((channels, texts) => query(notifySql, [channels, texts]))
  const topics = createTopics({
    carrier: {
      async listen(topic) {
        const channel = channelOf(prefix + topic)
        topicsByChannel.set(channel, topic)
        await orUnavailable(() => connection.settle(send(`LISTEN ${channel}`)))
      },
      async unlisten(topic) {
        const channel = channelOf(prefix + topic)
        await orUnavailable(() => connection.settle(send(`UNLISTEN ${channel}`)))
        topicsByChannel.delete(channel)
      },
      isUp: () => connection.isUp(),
    },
    log,
  })

  function receive({ channel, payload = '', processId }: pg.Notification): void {
    const topic = topicsByChannel.get(channel)
    const text = topic === undefined ? undefined : payloads.read(`${processId} ${channel}`, payload)
    if (topic !== undefined && text !== undefined) topics.deliver(topic, text)
  }

  const connection = superviseConnection({
    async connect() {
      const opened = await openListening(hosts)
      const made = opened.client
      client = made
      pid = opened.pid
      made.on('end', () => {
        if (made === client) connection.lose(new Error('the server ended the connection'))
      })
      made.on('notification', (notification) => {
        if (made === client) receive(notification)
      })
      payloads.clear()
      topics.forgetSubscriptions()
      await topics.settleAll()
    },
    ping,
    drop() {
      const dropped = client
      client = undefined
      // end() would wait for pending queries.
      dropped?.connection.stream.destroy()
    },
    onLost: (error) => log.warn({ err: error }, 'the PostgreSQL connection of the bus is lost'),
    onBack() {
      log.info('the PostgreSQL connection of the bus is back')
      topics.notifyGap()
    },
    // A host that does not respond must not keep it from the others.
    attemptTimeoutMs: hosts.all.length * attemptTimeoutPerHostMs,
  })

  function send(sql: string, values?: string[][]): Promise<unknown> {
    if (isClosed) throw new Error('the bus is closed')
    if (!client) throw new Error('the PostgreSQL connection of the bus is away')
    return client.query(sql, values)
  }

  /** Another process means that a pooler has taken the one that listens. */
  async function ping(): Promise<void> {
    const { rows } = (await send('SELECT pg_backend_pid() AS pid')) as pg.QueryResult<{ pid: number }>
    if (rows[0]?.pid !== pid) throw new Error('a pooler has changed the connection of the bus')
  }

  const query = (sql: string, values?: string[][]) =>
    orUnavailable(() => withTimeout(send(sql, values), replyTimeoutMs))

  await connection.start(connectTimeoutMs * hosts.all.length).catch((error: unknown) => {
    throw error instanceof FatalError ? error : cannotConnect(hosts.place, error)
  })

  return {
    async publish(topic, value) {
      published += 1
      await notify({ channel: channelOf(prefix + topic), payloads: toPayloads(encode(topic, value), published) })
    },
    subscribe: topics.subscribe,
    onGap: topics.onGap,
    isUp: connection.isUp,
    async close() {
      isClosed = true
      topics.close()
      await connection.close()
    },
  }
}

const clientConfig = {
  application_name: 'latchkey bus',
  // Queries are sent without waiting for earlier results.
  pipeline: true,
} as pg.ClientConfig

/** Opens a connection whose session is its own. */
export async function openListening(hosts: Hosts): Promise<OpenedClient> {
  const opened = await hosts.open(clientConfig)
  try {
    if (await isTransactionPooled(opened, hosts)) throw cannotListen(hosts.place)
    // A notification is worth no wait for the disk, nor for a standby.
    await withTimeout(opened.client.query(sessionStatement({ synchronous_commit: 'off' })), connectTimeoutMs)
    return opened
  } catch (error) {
    opened.client.connection.stream.destroy()
    throw error
  }
}

function cannotConnect(place: string, cause: unknown): FatalError {
  const message = `cannot listen to PostgreSQL at ${place}: ${errorMessage(cause)}`
  return new FatalError(message, exitCodes.unavailable, { cause })
}

function cannotListen(place: string): FatalError {
  const advice = 'database.listen_url must name PostgreSQL itself, or a pooler with session pooling'
  return new FatalError(
    `the pooler at ${place} shares connections between transactions: ${advice}`,
    exitCodes.configuration,
  )
}

async function orUnavailable(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw serviceUnavailable(error)
  }
}

/** Hashed, because an identifier has at most 63 bytes and few kinds of characters, while a topic may be any text. */
export function channelOf(topic: string): string {
  return `latchkey_${hash('sha256', topic, 'hex').slice(0, 40)}`
}
