/** The verifier of docs/authentication.md works as documented. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createVerifier } from 'fast-jwt'
import { root } from '../../src/config/root.ts'
import { startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/databases.ts'
import { blocksOf } from '../support/docs.ts'
import { challengeOf, claimsOf, enableTwoFactor, signIn } from '../support/people.ts'

type Verify = (token: string, options: { url: string; now: number }) => Promise<Record<string, unknown>>

test('a service that verifies as documented accepts access tokens and nothing else', async (t) => {
  const folder = temporaryFolder(t)
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const keyFile = join(folder, 'key.pem')
  writeFileSync(keyFile, pem)
  const api = await startApi(t, { env: { JWT_ALGORITHM: 'EdDSA', JWT_PRIVATE_KEY_FILE: keyFile } })
  const user = await signIn(api)
  await enableTwoFactor(api, user)
  const challenge = await challengeOf(api, user.email)

  const [code = ''] = blocksOf(readFileSync(join(root, 'docs', 'authentication.md'), 'utf8'), 'js')
  const file = join(folder, 'verifier.mjs')
  writeFileSync(file, code)
  const { verifyAccessToken } = (await import(pathToFileURL(file).href)) as { verifyAccessToken: Verify }
  const verify = (token: string, now = api.clock.nowSeconds()) => verifyAccessToken(token, { url: api.url, now })

  const claims = await verify(user.access)
  assert.deepEqual([claims.sub, claims.type], [String(user.id), 'access'])
  await assert.rejects(verify(user.refresh), /not an access token/)
  await assert.rejects(verify(challenge), /not an access token/)
  await assert.rejects(verify(user.access, Number(claims.exp)), /expired/)

  // With the header of an access token and a valid signature, `aud` still distinguishes them.
  const [head = ''] = user.access.split('.')
  for (const token of [user.refresh, challenge]) {
    const input = `${head}.${token.split('.')[1]}`
    const forged = `${input}.${sign(null, Buffer.from(input), createPrivateKey(pem)).toString('base64url')}`
    await assert.rejects(verify(forged), /somebody else/)
  }
  await assert.rejects(verify(`${user.access.slice(0, -8)}AAAAAAAA`), /wrong signature/)
})

test('a standard verifier can tell the token types apart by typ alone, and by aud alone', async (t) => {
  const key = 'a secret that only the tests know and use'
  const api = await startApi(t)
  const user = await signIn(api)
  await enableTwoFactor(api, user)
  const others = [user.refresh, await challengeOf(api, user.email)]
  const shared = { key, algorithms: ['HS256' as const], allowedIss: 'service', clockTimestamp: api.clock.now() }
  for (const verify of [
    createVerifier({ ...shared, checkTyp: 'at+jwt' }),
    createVerifier({ ...shared, allowedAud: 'service', requiredClaims: ['aud'] }),
  ]) {
    assert.deepEqual(verify(user.access), claimsOf(user.access))
    for (const token of others) assert.throws(() => verify(token))
  }
})

test('the commands about devices and ended sessions run, and answer what the page says', async (t) => {
  const api = await startApi(t)
  const page = readFileSync(join(root, 'docs', 'authentication.md'), 'utf8')
  const script = blocksOf(page, 'sh')
    .filter((block) => block.includes('$DEVICE'))
    .join('\n')
  const env = { PATH: process.env.PATH ?? '', BASE: api.url }
  const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], { env })
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const [, , , , , fifth, stranger, known, out, list] = answers
  assert.equal(typeof fifth.locked_until, 'number')
  assert.deepEqual(stranger, fifth)
  assert.equal(known.token_type, 'Bearer')
  assert.equal(out.message, 'Logged out of all devices')
  assert.equal(list.data.length, 1)
  assert.deepEqual(new Set(list.ended.map(({ reason }: { reason: string }) => reason)), new Set(['everywhere']))
})
