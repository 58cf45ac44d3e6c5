import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/core/app-error.ts'
import { createPasswords } from '../../src/platform/passwords/passwords.ts'

test('a password fits its own hash and no other, up to its last byte', async (t) => {
  const passwords = createPasswords({ cost: 4 })
  t.after(() => passwords.close())
  const long = `A1${'ü'.repeat(35)}`
  assert.equal(Buffer.byteLength(long), 72)
  for (const password of ['Correct-Horse-1', long, 'with\0zero', '']) {
    const hash = await passwords.hash(password)
    assert.match(hash, /^\$2b\$04\$.{53}$/)
    assert.equal(await passwords.verify(password, hash), true)
    assert.equal(await passwords.verify(`${password}x`, hash), false)
    assert.equal(await passwords.verify(password, undefined), false)
  }
  const hash = await passwords.hash(long)
  assert.equal(await passwords.verify(`${long.slice(0, -1)}x`, hash), false)
  assert.equal(await passwords.verify('with', await passwords.hash('with\0zero')), false)
})

test('the queue takes at least 256, and what is too much is refused at once with Retry-After', async (t) => {
  const passwords = createPasswords({ cost: 4 })
  t.after(() => passwords.close())
  const results = Array.from({ length: 1200 }, () => passwords.verify('x', undefined))
  const settled = await Promise.allSettled(results)
  const done = settled.filter(({ status }) => status === 'fulfilled')
  const refused = settled.filter((result) => result.status === 'rejected').map(({ reason }) => reason)
  assert.ok(done.length >= 256, `${done.length} were taken`)
  assert.ok(refused.length > 0)
  for (const reason of refused) {
    assert.ok(reason instanceof AppError && reason.status === 503)
    assert.ok(Number(reason.headers?.['retry-after']) > 0)
  }
})

test('a hash of another cost is outdated', async (t) => {
  const passwords = createPasswords({ cost: 5 })
  t.after(() => passwords.close())
  assert.equal(passwords.isOutdated(await passwords.hash('x')), false)
  assert.equal(passwords.isOutdated(`$2b$04$${'x'.repeat(53)}`), true)
})
