import { password } from '../../test/support/people.ts'
import type { Result } from './benchmark.ts'
import { openDataset } from './dataset.ts'
import { createClient, type Send } from './http.ts'
import { startService } from './service.ts'
import { measureSortedPages } from './sorted-pages.ts'

/** Measures a sorted list of administration on a database that is filled already. */
export async function measureAsAdministrator(
  databaseUrl: string,
  list: Omit<Parameters<typeof measureSortedPages>[0], 'send' | 'token'>,
): Promise<Result[]> {
  const server = await startService('service.ts', { DATABASE_URL: databaseUrl, MAX_EVENT_LOOP_DELAY_MS: '0' })
  const { send, close } = createClient(server.url, { connections: 1 })
  try {
    return await measureSortedPages({ ...list, send, token: await signInAsAdministrator(send, databaseUrl) })
  } finally {
    close()
    await server.stop()
  }
}

/** Registers an administrator at a running service. Returns the access token. */
async function signInAsAdministrator(send: Send, databaseUrl: string): Promise<string> {
  const json = { email: 'administrator@example.com', password, name: 'Ada' }
  await send('POST', '/api/auth/register', { json })
  const db = await openDataset(databaseUrl)
  await db.write({ sql: `UPDATE users SET roles = '["admin"]' WHERE email = $1`, params: [json.email] })
  await db.close()
  const { body } = await send('POST', '/api/auth/login', { json })
  return (JSON.parse(body) as { access_token: string }).access_token
}
