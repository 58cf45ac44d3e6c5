import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadConfig } from '../app/load-config.ts'
import { FatalError } from '../core/fatal-error.ts'
import { coreKeys } from './core-keys.ts'
import { isKey, type KeyTree, leavesOf } from './key.ts'
import { root } from './root.ts'

const value = 'a secret that only the tests know and use'

function load(environment: Record<string, string>) {
  return loadConfig({ directory: join(root, 'config'), environment, forService: true })
}

function problems(environment: Record<string, string>): readonly string[] {
  try {
    load(environment)
  } catch (error) {
    assert.ok(error instanceof FatalError)
    assert.equal(error.exitCode, 78)
    return error.lines
  }
  return []
}

function secretFile(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-secret-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'secret'), text)
  return join(folder, 'secret')
}

test('a secret comes from the file that the variable with _FILE names, without the line break at its end', (t) => {
  for (const end of ['', '\n', '\r\n']) {
    assert.equal(load({ JWT_SECRET_FILE: secretFile(t, value + end) }).jwt.secret, value)
  }
  const url = 'postgres://latchkey:word@db/latchkey'
  const environment = {
    JWT_SECRET_FILE: secretFile(t, value),
    DATABASE_URL_FILE: secretFile(t, `${url}\n`),
    JWT_PREVIOUS_SECRETS_FILE: secretFile(t, `${value}1, ${value}2\n`),
    METRICS_TOKEN_FILE: secretFile(t, '007\n'),
  }
  const { database, jwt, server } = load(environment)
  assert.equal(database.url, url)
  assert.deepEqual(jwt.previousSecrets, [`${value}1`, `${value}2`])
  assert.equal(server.metricsToken, '007')
})

test('every key that holds a secret can be read from a file, and no other', () => {
  const secrets = leavesOf(coreKeys as KeyTree).filter((key) => isKey(key) && key.isSecret)
  assert.deepEqual(secrets.map((key) => isKey(key) && key.variable).sort(), [
    'APP_KEY',
    'DATABASE_LISTEN_URL',
    'DATABASE_URL',
    'JWT_PREVIOUS_SECRETS',
    'JWT_SECRET',
    'MAIL_URL',
    'METRICS_TOKEN',
    'REDIS_URL',
  ])
  assert.equal(load({ PORT_FILE: '/nowhere' }).server.port, 3000)
})

test('an empty variable with _FILE counts as unset', () => {
  assert.equal(load({ JWT_SECRET: value, JWT_SECRET_FILE: '' }).jwt.secret, value)
})

test('a missing, empty or unfit file and two sources for one secret are problems, each named by its variable', (t) => {
  const empty = secretFile(t, '\n')
  const short = secretFile(t, 'short')
  const found = problems({
    JWT_SECRET: value,
    JWT_SECRET_FILE: empty,
    APP_KEY_FILE: short,
    METRICS_TOKEN_FILE: empty,
    DATABASE_URL_FILE: short,
    REDIS_URL_FILE: '/nowhere/redis',
    MAIL_URL_FILE: root,
  })
  assert.deepEqual([...found].sort(), [
    'APP_KEY_FILE must be at least 32 bytes long',
    'DATABASE_URL_FILE must be a URL that starts with file: or postgres: or postgresql:',
    'JWT_SECRET and JWT_SECRET_FILE are both set: use one of them',
    `MAIL_URL_FILE: ${root} cannot be read (EISDIR)`,
    `METRICS_TOKEN_FILE: ${empty} is empty`,
    'REDIS_URL_FILE: /nowhere/redis cannot be read (ENOENT)',
  ])
  assert.ok(!found.some((line) => line.includes('short ')), 'no message repeats a secret')
})

test('the drain takes three seconds in production and none in development, unless it is configured', () => {
  const seconds = (environment: Record<string, string>) =>
    load({ JWT_SECRET: value, ...environment }).server.drainSeconds
  assert.equal(seconds({}), 0)
  assert.equal(seconds({ NODE_ENV: 'production' }), 3)
  assert.equal(seconds({ NODE_ENV: 'production', DRAIN_SECONDS: '0' }), 0)
  assert.equal(seconds({ DRAIN_SECONDS: '5' }), 5)
})
