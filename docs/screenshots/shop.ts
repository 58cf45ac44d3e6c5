/**
 * A service with generated users and products, on a database that is deleted on close. The clock is fixed and the random
 * numbers are deterministic, so that the screenshots look the same each time.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type Parts } from '../../src/app/create-app.ts'
import { loadConfig } from '../../src/app/load-config.ts'
import { root } from '../../src/config/root.ts'
import { createClock } from '../../src/core/clock.ts'
import { createRandom } from '../../src/core/random.ts'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { devices, people, products, signInDays } from './made-up.ts'

export interface Shop {
  url: string
  /** The administrator. */
  ada: { email: string; password: string }
  /** Changes a product as another user would. */
  changeProduct(name: string, fields: { stock: number }): Promise<void>
  close(): Promise<void>
}

const password = 'Correct-Horse-1'
const minuteMs = 60_000
const dayMs = 86_400_000

export async function startShop(): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-screenshots-'))
  let now = Date.parse('2026-03-02T09:00:00Z')
  let drawn = 0
  const config = loadConfig({
    directory: join(root, 'config'),
    environment: {
      HOST: '127.0.0.1',
      PORT: '0',
      GQL_WS_HOST: '127.0.0.1',
      GQL_WS_PORT: '0',
      DATABASE_URL: `file:${join(folder, 'shop.db')}`,
      JWT_SECRET: 'a secret for pictures of people who are made up',
      BCRYPT_COST: '4',
      MAX_EVENT_LOOP_DELAY_MS: '0',
      TRUSTED_PROXIES: 'loopback',
    },
    forService: true,
  })
  let parts: Parts | undefined
  const app = await createApp({
    config,
    clock: createClock(() => now),
    random: createRandom((length) => createHash('shake256', { outputLength: length }).update(`${drawn++}`).digest()),
    log: createLogger({ level: 'silent', isTerminal: false, destination: { write: () => {} } }),
    onCreated(_app, found) {
      parts = found
    },
  })
  const { url } = await app.listen()
  const db = (parts as unknown as Parts).db

  async function post(path: string, body: object, device = 0): Promise<void> {
    now += 7 * minuteMs
    const { userAgent, address } = devices[device % devices.length] as (typeof devices)[number]
    await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, 'x-forwarded-for': address },
      body: JSON.stringify(body),
    })
  }

  for (const [i, { email, name, roles }] of people.entries()) {
    await post('/api/auth/register', { email, name, password }, i)
    await db.write({ sql: 'UPDATE users SET roles = $1 WHERE email = $2', params: [JSON.stringify(roles), email] })
    await post('/api/auth/login', { email, password }, i)
  }
  for (let i = 0; i < 5; i++) await post('/api/auth/login', { email: 'katherine@example.com', password: 'mistyped' }, 2)
  await db.write(insertMany(db.dialect, products, new Date(now).toISOString()))
  await db.write({ sql: 'INSERT INTO sign_in_progress (id, audit_id) VALUES (1, 0)' })
  for (const { daysAgo, signIns, failures } of signInDays) {
    const day = new Date(now - daysAgo * dayMs).toISOString().slice(0, 10)
    const sql = 'INSERT INTO sign_in_days (day, sign_ins, failures) VALUES ($1, $2, $3)'
    await db.write({ sql, params: [day, signIns, failures] })
  }
  now += minuteMs

  return {
    url,
    ada: { email: 'ada@example.com', password },
    async changeProduct(name, { stock }) {
      now += minuteMs
      const changedAt = new Date(now).toISOString()
      await db.write({
        sql: `UPDATE products SET stock = $1, updated_at = $2, version = version + 1,
                changed_by = (SELECT id FROM users WHERE email = 'grace@example.com')
              WHERE name = $3`,
        params: [stock, changedAt, name],
      })
    },
    async close() {
      await app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
