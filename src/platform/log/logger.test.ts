import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from './logger.ts'

function capture() {
  const lines: string[] = []
  const log = createLogger({
    level: 'info',
    isTerminal: false,
    destination: { write: (line) => void lines.push(line) },
  })
  return { log, text: () => lines.join('') }
}

test('a secret is hidden under every name it goes by, at every depth, in children and in addresses', () => {
  const { log, text } = capture()
  const secret = 'hush-4711'
  const names = [
    'password',
    'new_password',
    'token',
    'tokens',
    'x-api-key',
    'privateKey',
    'code',
    'recovery_codes',
    'Cookie',
  ]
  for (const name of names) log.info({ [name]: secret, deep: [{ [name]: { a: secret } }] }, 'line')
  log.child({ token: secret }).info('child')
  log.info({ url: `postgres://user:${secret}@host/name` }, 'address')
  const error = Object.assign(new Error('failed'), { detail: secret, password: secret, code: '23505' })
  log.error({ error, err: error }, 'error')
  assert.ok(!text().includes(secret))
  assert.ok(text().includes('23505'))
  assert.ok(text().includes('host/name'))
})

test('what cannot be told in a line does not break it', () => {
  const { log, text } = capture()
  const circle = new Error('circle')
  circle.cause = circle
  log.error({ err: circle, map: new Map(), bare: Object.create(Object.create(null)) }, 'odd')
  assert.ok(text().includes('"msg":"odd"'))
})
