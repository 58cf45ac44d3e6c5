/** PostgreSQL databases with unusual defaults. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { runOnServer } from '../../src/testing/databases.ts'
import { createDatabaseUrl, testServer } from './databases.ts'

type Defaults = Readonly<Record<string, string>>

export async function createWith(t: TestContext, defaults: Defaults): Promise<string> {
  const url = await createDatabaseUrl(t, 'postgres')
  await setDefaults(url, defaults)
  return url
}

/** For new connections. */
export async function setDefaults(url: string, defaults: Defaults): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  for (const [key, value] of Object.entries(defaults)) {
    await runOnServer(testServer('TEST_DATABASE_URL'), `ALTER DATABASE ${name} SET ${key} = ${value}`)
  }
}

export async function createEncoded(t: TestContext, encoding: string): Promise<string> {
  const server = testServer('TEST_DATABASE_URL')
  const name = `test_${randomBytes(8).toString('hex')}`
  await runOnServer(server, `CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`)
  t.after(() => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
