/** What the files on the disk reveal, and what they must not. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { systemRandom } from '../../src/core/random.ts'
import { createEncryption } from '../../src/platform/secrets/encryption.ts'
import { findOrCreateSecret } from '../../src/platform/secrets/secret-file.ts'
import { startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { challengeOf, enableTwoFactor, isSignedIn, password, signIn } from '../support/people.ts'

test('without JWT_SECRET, in development on SQLite, one is generated once and stored next to the database', async (t) => {
  const first = await startApi(t, { env: { JWT_SECRET: '' } })
  const file = join(dirname(first.databaseUrl.slice('file:'.length)), 'jwt-secret')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(first.log.filter((line) => line.includes('no JWT_SECRET is set')).length, 1)
  const secret = readFileSync(file, 'utf8').trim()
  assert.ok(Buffer.byteLength(secret) >= 32)
  assert.ok(!first.log.join('').includes(secret))

  const user = await signIn(first)
  await first.close()
  const second = await startApi(t, { env: { JWT_SECRET: '', DATABASE_URL: first.databaseUrl } })
  assert.ok(await isSignedIn(second, user.access))
  assert.ok(!second.log.join('').includes('no JWT_SECRET is set'))
})

test('a secret file that is too short is refused, and ten starts at once agree on one secret', async (t) => {
  const file = join(temporaryFolder(t), 'jwt-secret')
  const secrets = await Promise.all(
    Array.from({ length: 10 }, async () => findOrCreateSecret(file, systemRandom).secret),
  )
  assert.equal(new Set(secrets).size, 1)
  assert.deepEqual(readdirSync(dirname(file)), ['jwt-secret'])
  writeFileSync(file, 'short')
  assert.throws(() => findOrCreateSecret(file, systemRandom), /no secret of at least 32 bytes/)
})

test('nothing in the database file lets anyone log in', async (t) => {
  const api = await startApi(t)
  const user = await signIn(api)
  const { secret, recoveryCodes } = await enableTwoFactor(api, user)
  const challenge = await challengeOf(api, user.email)
  await api.post('/api/auth/password/forgot', { email: user.email })
  const token = await eventually(() => {
    const found = /Reset token: ([\w-]{20,})/.exec(api.log.join(''))
    assert.ok(found)
    return found[1] as string
  })

  const path = api.databaseUrl.slice('file:'.length)
  const bytes = [path, `${path}-wal`]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1'))
    .join('')
  assert.ok(bytes.includes(user.email), 'this is the right file')
  const plain = recoveryCodes.map((code) => code.replaceAll('-', ''))
  for (const hidden of [password, user.access, user.refresh, challenge, secret, token, ...recoveryCodes, ...plain]) {
    assert.ok(!bytes.includes(hidden))
  }
})

test('a ciphertext decrypts only with its own key, and not if one bit differs', () => {
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)]
  const old = createEncryption([a], systemRandom)
  const both = createEncryption([b, a], systemRandom)
  const text = old.encrypt('hello')
  assert.notEqual(text, old.encrypt('hello'))
  assert.deepEqual(both.decrypt(text), { text: 'hello', isOutdated: true })
  assert.deepEqual(both.decrypt(both.encrypt('hello')), { text: 'hello', isOutdated: false })
  assert.throws(() => createEncryption([b], systemRandom).decrypt(text))
  for (const part of [2, 3, 4]) {
    const parts = text.split('.')
    const bytes = Buffer.from(parts[part] ?? '', 'base64url')
    bytes[0] = (bytes[0] ?? 0) ^ 1
    parts[part] = bytes.toString('base64url')
    assert.throws(() => both.decrypt(parts.join('.')))
  }
})
