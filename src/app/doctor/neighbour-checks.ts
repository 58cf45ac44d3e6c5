/** Checks of Redis and the mail server. */
import { errorMessage } from '../../core/error-message.ts'
import { withTimeout } from '../../core/timeout.ts'
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
