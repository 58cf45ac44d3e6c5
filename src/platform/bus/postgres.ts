/**
 * The bus over PostgreSQL's LISTEN and NOTIFY, on its own connection, because LISTEN is bound to a session.
 * https://www.postgresql.org/docs/current/sql-notify.html
 */
import { hash } from 'node:crypto'
import pg from 'pg'
import { serviceUnavailable } from '../../core/app-error.ts'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { replyTimeoutMs, superviseConnection } from '../../core/supervised-connection.ts'
import { withTimeout } from '../../core/timeout.ts'
import { sessionStatement } from '../database/postgres/session.ts'
import type { Log } from '../log/logger.ts'
import { type Bus, encode } from './bus.ts'
import { createTopics } from './topics.ts'

export interface PostgresBusOptions {
  url: string
  log: Log
}

/** The server's limit for a payload. */
const maxBytes = 7999
const connectTimeoutMs = 5000

export async function createPostgresBus({ url, log }: PostgresBusOptions): Promise<Bus> {
  /** Undefined while disconnected. */
  let client: pg.Client | undefined
  let isClosed = false
  const topicsByChannel = new Map<string, string>()
  const topics = createTopics({
    carrier: {
      async listen(topic) {
        const channel = channelOf(topic)
        topicsByChannel.set(channel, topic)
        await orUnavailable(() => connection.settle(send(`LISTEN ${channel}`)))
      },
      async unlisten(topic) {
        const channel = channelOf(topic)
        await orUnavailable(() => connection.settle(send(`UNLISTEN ${channel}`)))
        topicsByChannel.delete(channel)
      },
      isUp: () => connection.isUp(),
    },
    log,
  })

  const connection = superviseConnection({
    async connect() {
      const made = new pg.Client(clientConfig(url))
      // Without a listener the event would end the process; it is followed by "end".
      made.on('error', ignore)
      made.on('end', () => {
        if (made === client) connection.lose(new Error('the server ended the connection'))
      })
      made.on('notification', ({ channel, payload }) => {
        const topic = topicsByChannel.get(channel)
        if (made === client && topic !== undefined) topics.deliver(topic, payload ?? '')
      })
      client = made
      await made.connect()
      await made.query(sessionStatement())
      topics.forgetSubscriptions()
      await topics.settleAll()
    },
    ping: () => query('SELECT 1'),
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
  })

  function send(sql: string, values?: string[]): Promise<unknown> {
    if (isClosed) throw new Error('the bus is closed')
    if (!client) throw new Error('the PostgreSQL connection of the bus is away')
    return client.query(sql, values)
  }

  const query = (sql: string, values?: string[]) => orUnavailable(() => withTimeout(send(sql, values), replyTimeoutMs))

  try {
    await connection.start(connectTimeoutMs)
  } catch (error) {
    const message = `cannot listen to PostgreSQL: ${errorMessage(error)}`
    throw new FatalError(message, exitCodes.unavailable, { cause: error })
  }

  return {
    async publish(topic, value) {
      const text = encode(topic, value)
      const bytes = Buffer.byteLength(text)
      if (bytes > maxBytes) {
        throw new RangeError(
          `a value of ${bytes} bytes for the topic "${topic}": PostgreSQL carries ${maxBytes} at most`,
        )
      }
      await query('SELECT pg_notify($1, $2)', [channelOf(topic), text])
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

function clientConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'latchkey bus',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // Queries are sent without waiting for earlier results.
    pipeline: true,
  } as pg.ClientConfig
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

const ignore = () => {}
