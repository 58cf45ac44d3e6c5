/** Checks of Redis, the mail server, notifications of PostgreSQL and the OpenTelemetry collector. */
import { errorMessage } from '../../core/error-message.ts'
import { withTimeout } from '../../core/timeout.ts'
import { openListening } from '../../platform/bus/postgres.ts'
import { createHosts } from '../../platform/database/postgres/hosts.ts'
import type { Config } from '../load-config.ts'
import { checkClock } from './clock-check.ts'
import type { Finding } from './finding.ts'

const maxMs = 8000

export async function checkRedis(url: string): Promise<Finding[]> {
  const { createClient } = await import('redis')
  const client = createClient({ url, socket: { connectTimeout: 5000, reconnectStrategy: false } })
  // Without a listener the event would end the process; the call that meets the error rejects too.
  client.on('error', () => {})
  const { host } = new URL(url)
  try {
    const time = await withTimeout(
      client.connect().then(() => client.sendCommand<string[]>(['TIME'])),
      maxMs,
    )
    const [seconds, microseconds] = time.map(Number)
    const now = (seconds ?? 0) * 1000 + (microseconds ?? 0) / 1000
    return [{ id: 'redis', status: 'ok', text: `Redis answers at ${host}` }, checkClock('Redis', now)]
  } catch (error) {
    const text = `cannot reach Redis at ${host} (${errorMessage(error)}): check REDIS_URL and the server`
    return [{ id: 'redis', status: 'problem', text }]
  } finally {
    client.destroy()
  }
}

/** Signs in at the mail server if MAIL_URL has credentials. Sends nothing. */
export async function checkMailServer(url: string): Promise<Finding> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({ url, connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 5000 })
  const { host } = new URL(url)
  try {
    await withTimeout(transport.verify(), maxMs)
    return { id: 'mail_server', status: 'ok', text: `the mail server answers at ${host}` }
  } catch (error) {
    const text = `the mail server at ${host} does not work (${errorMessage(error)}): check MAIL_URL`
    return { id: 'mail_server', status: 'problem', text }
  } finally {
    transport.close()
  }
}

/** A connection of its own for notifications, as each node opens one. */
export async function checkListening(url: string): Promise<Finding> {
  const hosts = createHosts(url, { needsPrimary: true })
  const opening = openListening(hosts)
  try {
    await withTimeout(opening, maxMs)
    return { id: 'database_listen', status: 'ok', text: `PostgreSQL at ${hosts.place} sends notifications` }
  } catch (error) {
    const text = `cannot listen to PostgreSQL at ${hosts.place} (${errorMessage(error)}): check DATABASE_LISTEN_URL`
    return { id: 'database_listen', status: 'problem', text }
  } finally {
    opening.then(({ client }) => client.connection.stream.destroy()).catch(() => {})
  }
}

/** Sends what has no spans and no metrics in it, as the service sends them. */
export async function checkCollector(endpoint: string, telemetry: Config['telemetry']): Promise<Finding> {
  const id = 'telemetry'
  const { host } = new URL(endpoint)
  const empty = [
    { path: '/v1/traces', body: { resourceSpans: [] }, isSent: telemetry.traces === 'otlp' },
    { path: '/v1/metrics', body: { resourceMetrics: [] }, isSent: telemetry.metrics === 'otlp' },
  ]
  for (const { path, body, isSent } of empty) {
    const problem = isSent ? await findRefusal(endpoint + path, body, telemetry.headers) : undefined
    if (problem === undefined) continue
    const advice = 'check OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS and the collector'
    return { id, status: 'problem', text: `the collector at ${host} does not accept ${path} (${problem}): ${advice}` }
  }
  return { id, status: 'ok', text: `the OpenTelemetry collector answers at ${host}` }
}

async function findRefusal(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  // The error of fetch would show them.
  if (new URL(url).username !== '') return 'a user and a password belong into OTEL_EXPORTER_OTLP_HEADERS'
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(maxMs),
    })
    await response.body?.cancel()
    return response.ok ? undefined : `status ${response.status}`
  } catch (error) {
    return errorMessage((error as Error).cause ?? error)
  }
}
