/** Runs the service on a database that is filled already, for an administrator. */
import { openConsole } from '../../test/support/console.ts'
import { password } from '../../test/support/people.ts'
import { openDataset } from './dataset.ts'
import { createClient, type Send } from './http.ts'
import { startService } from './service.ts'

/** The ways in which an administrator asks. */
export interface Administrator {
  send: Send
  /** Of the API. */
  token: string
  /** Of the console. */
  cookie: string
}

export async function asAdministrator<T>(
  databaseUrl: string,
  work: (administrator: Administrator) => Promise<T>,
): Promise<T> {
  const server = await startService('service.ts', { DATABASE_URL: databaseUrl, MAX_EVENT_LOOP_DELAY_MS: '0' })
  const { send, close } = createClient(server.url, { connections: 1 })
  try {
    const { email, token } = await signInAsAdministrator(send, databaseUrl)
    const browser = openConsole(server)
    await browser.signIn(email)
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    return await work({ send, token, cookie })
  } finally {
    close()
    await server.stop()
  }
}

/** Registers an administrator at a running service. */
async function signInAsAdministrator(send: Send, databaseUrl: string): Promise<{ email: string; token: string }> {
  const json = { email: 'administrator@example.com', password, name: 'Ada' }
  await send('POST', '/api/auth/register', { json })
  const db = await openDataset(databaseUrl)
  await db.write({ sql: `UPDATE users SET roles = '["admin"]' WHERE email = $1`, params: [json.email] })
  await db.close()
  const { body } = await send('POST', '/api/auth/login', { json })
  return { email: json.email, token: (JSON.parse(body) as { access_token: string }).access_token }
}
