/**
 * The bus over PostgreSQL's LISTEN and NOTIFY, on a connection of its own: what is heard belongs to the connection that
 * listens. https://www.postgresql.org/docs/current/sql-notify.html
 */
import { hash } from 'node:crypto'
import pg from 'pg'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { reasonOf } from '../../core/reason.ts'
import { repeat } from '../../core/repeat.ts'
import type { Log } from '../log/logger.ts'
import { type Bus, busUnavailable, encode } from './bus.ts'
import { createTopics } from './topics.ts'

export interface PostgresBusOptions {
  url: string
  log: Log
}

/** The server refuses 8000 bytes and more. */
const maxBytes = 7999
const timeoutMs = 4000
const pingMs = 1500
const maxRetryMs = 2000

export async function createPostgresBus({ url, log }: PostgresBusOptions): Promise<Bus> {
  /** Undefined while there is none. */
  let client: pg.Client | undefined
  /** Whether all topics are listened to, over that client. */
  let isUp = false
  let isClosed = false
  let retry: NodeJS.Timeout | undefined
  const topicsByChannel = new Map<string, string>()
  const topics = createTopics({
    wire: {
      async listen(topic) {
        const channel = channelOf(topic)
        topicsByChannel.set(channel, topic)
        await query(`LISTEN ${channel}`)
      },
      async unlisten(topic) {
        const channel = channelOf(topic)
        await query(`UNLISTEN ${channel}`)
        topicsByChannel.delete(channel)
      },
      isUp: () => isUp,
    },
    log,
  })

  async function query(sql: string, values?: string[]): Promise<void> {
    if (isClosed) throw busUnavailable(new Error('the bus is closed'))
    if (!client) throw busUnavailable(new Error('the PostgreSQL connection of the bus is away'))
    try {
      await client.query(sql, values)
    } catch (error) {
      throw busUnavailable(error)
    }
  }

  async function connect(): Promise<void> {
    const made = new pg.Client(clientConfig(url))
    // Unheard, the event would end the process; "end" follows it.
    made.on('error', ignore)
    made.on('end', () => lose(made))
    made.on('notification', ({ channel, payload }) => {
      const topic = topicsByChannel.get(channel)
      if (made === client && topic !== undefined) topics.deliver(topic, payload ?? '')
    })
    try {
      await made.connect()
      if (isClosed) throw new Error('the bus is closed')
      client = made
      topics.forgetWire()
      await topics.settleAll()
      // It may have been lost with nothing under way that would have failed.
      if (client !== made) throw new Error('the connection was lost again')
      isUp = true
    } catch (error) {
      if (client === made) client = undefined
      made.end().catch(ignore)
      throw error
    }
  }

  function lose(lost: pg.Client): void {
    if (lost !== client) return
    client = undefined
    // Where it was not up yet, whoever connects finds out by an error.
    if (!isUp || isClosed) return
    isUp = false
    log.warn('the PostgreSQL connection of the bus is lost')
    connectAgain(0)
  }

  function connectAgain(attempt: number): void {
    const waitMs = Math.min(50 * 2 ** attempt, maxRetryMs)
    retry = setTimeout(async () => {
      try {
        await connect()
        log.info('the PostgreSQL connection of the bus is back')
        topics.tellGap()
      } catch {
        if (!isClosed) connectAgain(attempt + 1)
      }
    }, waitMs).unref()
  }

  /** A connection that fell silent says nothing of it: it is asked now and then, and ends where it does not answer. */
  const pings = repeat({
    everyMs: pingMs,
    work: async () => isUp && query('SELECT 1'),
    onError: ignore,
  })

  try {
    await connect()
  } catch (error) {
    isClosed = true
    await pings.close()
    const message = `cannot listen to PostgreSQL: ${reasonOf(error)}`
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
    async check() {
      if (!isUp) throw busUnavailable(new Error('the PostgreSQL connection of the bus is away'))
      await query('SELECT 1')
    },
    async close() {
      isClosed = true
      topics.close()
      clearTimeout(retry)
      const last = client
      client = undefined
      await Promise.all([last?.end().catch(ignore), pings.close()])
    },
  }
}

function clientConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'latchkey bus',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    // Queries do not wait for each other's answers; one over its time ends the connection.
    pipeline: true,
  } as pg.ClientConfig
}

/** A name of a channel is at most 63 bytes of a few kinds; a topic may be anything. */
export function channelOf(topic: string): string {
  return `latchkey_${hash('sha256', topic, 'hex').slice(0, 40)}`
}

const ignore = () => {}
