/** Tokens that must be refused, and the signing keys. */
import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClientResponse } from '../../src/testing/client.ts'
import { type Api, shareApi, startApi } from '../support/api.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { challengeOf, claimsOf, enableTwoFactor, isSignedIn, signIn, totp } from '../support/people.ts'
import { chosen } from '../support/tiers.ts'

const secret = 'a secret that only the tests know and use'
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

function hmac(header: object, claims: object, key = secret, digest = 'sha256'): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${createHmac(digest, key).update(input).digest('base64url')}`
}

onAnyEngine('access tokens', (engine) => {
  test('from elsewhere, or for another purpose, are refused, and only the fact is logged', async (t) => {
    const api = await startApi(t, { engine })
    const user = await signIn(api)
    const claims = claimsOf(user.access)
    const header = JSON.parse(Buffer.from(user.access.split('.')[0] ?? '', 'base64url').toString()) as Record<
      string,
      string
    >
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const ownJwk = { ...header, alg: 'RS256', jwk: publicKey.export({ format: 'jwk' }) }
    const ownInput = `${encode(ownJwk)}.${encode(claims)}`
    const now = api.clock.nowSeconds()
    const [head, body, signature] = user.access.split('.') as [string, string, string]

    assert.equal(
      (await api.get('/me', hmac(header, claims))).status,
      200,
      'the forger of this test does know the secret',
    )
    assert.equal((await api.get('/me', hmac({ alg: 'HS256', typ: 'at+jwt' }, claims))).status, 200)
    const forged: Record<string, string> = {
      'alg none': `${encode({ ...header, alg: 'none' })}.${body}.`,
      'alg None with the old signature': `${encode({ ...header, alg: 'None' })}.${body}.${signature}`,
      'HS256 signed with a public key': hmac({ alg: 'HS256', typ: 'JWT' }, claims, pem),
      'another secret': hmac(header, claims, 'another secret of more than thirty-two bytes'),
      'another algorithm with our secret': hmac({ ...header, alg: 'HS512' }, claims, secret, 'sha512'),
      'another type': hmac(header, { ...claims, type: 'refresh' }),
      'the typ of another type': hmac({ ...header, typ: 'refresh+jwt' }, claims),
      'a typ of no type': hmac({ ...header, typ: 'jwt' }, claims),
      'a typ that is no text': hmac({ ...header, typ: ['at+jwt'] }, claims),
      'the audience of another type': hmac(header, { ...claims, aud: 'service/refresh' }),
      'no audience': hmac(header, { ...claims, aud: undefined }),
      'a list of audiences': hmac(header, { ...claims, aud: ['service'] }),
      'an audience with the typ from before': hmac({ ...header, typ: 'JWT' }, claims),
      'no type': hmac(header, { ...claims, type: undefined }),
      'another issuer': hmac(header, { ...claims, iss: 'somebody' }),
      'no issuer': hmac(header, { ...claims, iss: undefined }),
      expired: hmac(header, { ...claims, exp: now - 1 }),
      'expiring now': hmac(header, { ...claims, exp: now }),
      'no expiry': hmac(header, { ...claims, exp: undefined }),
      'an expiry that is text': hmac(header, { ...claims, exp: '9999999999' }),
      'from the future': hmac(header, { ...claims, iat: now + 60 }),
      'another version': hmac(header, { ...claims, ver: 2 }),
      'another user': hmac(header, { ...claims, sub: '999' }),
      'a subject that is a number': hmac(header, { ...claims, sub: 1 }),
      'an unknown family': hmac(header, { ...claims, family: 'x' }),
      'an unknown kid': hmac({ ...header, kid: 'unknown' }, claims),
      'a kid that is a path': hmac({ ...header, kid: '../../dev/null' }, claims, ''),
      'a jwk header': hmac({ ...header, jwk: { kty: 'oct', k: encode(secret) } }, claims),
      'a jku header': hmac({ ...header, jku: 'https://evil.example/keys' }, claims),
      'a crit header': hmac({ ...header, crit: ['exp'] }, claims),
      'a key of its own': `${ownInput}.${sign('sha256', Buffer.from(ownInput), privateKey).toString('base64url')}`,
      'a tampered body': `${head}.${encode({ ...claims, sub: '2' })}.${signature}`,
      'a tampered signature': `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      'no signature': `${head}.${body}`,
      'four parts': `${user.access}.x`,
      'over-long': hmac(header, { ...claims, pad: 'x'.repeat(10_000) }),
      'not a token': 'x',
    }
    for (const [what, token] of Object.entries(forged)) {
      const response = await api.get('/me', token)
      assert.deepEqual([response.status, response.body], [401, { error: 'Invalid access token' }], what)
    }
    const logged = () => api.log.filter((line) => line.includes('"path":"/me"')).length
    await eventually(() => assert.equal(logged(), 2 + Object.keys(forged).length))
    const log = api.log.filter((line) => line.includes('"requestId"')).join('')
    assert.ok(!log.includes('"level":"error"') && !log.includes('"level":"warn"'))
    for (const token of Object.values(forged)) if (token.length > 10) assert.ok(!log.includes(token))
    assert.ok(await isSignedIn(api, user.access))
  })
})

/** The header and the audience that each type has. */
const kinds = {
  access: { typ: 'at+jwt', aud: 'service' },
  refresh: { typ: 'refresh+jwt', aud: 'service/refresh' },
  '2fa_challenge': { typ: '2fa-challenge+jwt', aud: 'service/2fa' },
}
type Kind = keyof typeof kinds

function headerOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8'))
}

/** A user with a second factor, one token of each type, and where each type is presented. */
async function makeTokens(api: Api) {
  const user = await signIn(api)
  const { secret: totpSecret } = await enableTwoFactor(api, user)
  api.clock.advance(60)
  const tokens: Record<Kind, string> = {
    access: user.access,
    refresh: user.refresh,
    '2fa_challenge': await challengeOf(api, user.email),
  }
  const present: Record<Kind, (token: string) => Promise<ClientResponse>> = {
    access: (token) => api.get('/me', token),
    refresh: (refresh_token) => api.post('/api/auth/refresh', { refresh_token }),
    '2fa_challenge': (challenge_token) =>
      api.post('/api/auth/2fa/verify', { challenge_token, code: totp(api, totpSecret) }),
  }
  return { api, tokens, present }
}
const refusalOf: Record<Kind, string> = {
  access: 'Invalid access token',
  refresh: 'Invalid refresh token',
  '2fa_challenge': 'Invalid challenge token',
}
const allKinds = Object.keys(kinds) as Kind[]

onAnyEngine('tokens of every type', (engine) => {
  const shared = shareApi({ engine })

  test('state their kind in typ and aud, and are refused if those contradict the type', async () => {
    const { tokens, present } = await makeTokens(await shared())
    for (const kind of allKinds) {
      const header = headerOf(tokens[kind])
      const claims = claimsOf(tokens[kind])
      assert.deepEqual([header.typ, claims.aud, claims.type], [kinds[kind].typ, kinds[kind].aud, kind])
      for (const other of allKinds.filter((each) => each !== kind)) {
        const forged = [
          hmac({ ...header, typ: kinds[other].typ }, claims),
          hmac(header, { ...claims, aud: kinds[other].aud }),
          hmac({ ...header, typ: kinds[other].typ }, { ...claims, aud: kinds[other].aud }),
          hmac({ ...header, typ: 'JWT' }, claims),
          hmac(header, { ...claims, aud: undefined }),
        ]
        for (const token of [...forged, tokens[other]]) {
          const { status, body } = await present[kind](token)
          assert.deepEqual([status, body], [401, { error: refusalOf[kind] }], `${other} as ${kind}`)
        }
      }
    }
    for (const kind of allKinds) assert.equal((await present[kind](tokens[kind])).status, 200, kind)
  })

  test('from before typ and aud are good until they expire', async () => {
    const { api, tokens, present } = await makeTokens(await shared())
    for (const kind of allKinds) {
      const claims = { ...claimsOf(tokens[kind]), aud: undefined }
      const former = (change: object) => hmac({ alg: 'HS256', typ: 'JWT' }, { ...claims, ...change })
      assert.equal((await present[kind](former({ exp: api.clock.nowSeconds() - 1 }))).status, 401, `expired ${kind}`)
      assert.equal((await present[kind](former({}))).status, 200, kind)
    }
  })

  test('with impossible claims are refused, even if correctly signed', async () => {
    const { api, tokens, present } = await makeTokens(await shared())
    const impossible: Record<string, unknown[]> = {
      sub: ['', 'x', '0', '-1', '01', '1.5', '1e30', 'NaN', '9007199254740993', '9'.repeat(400), 1, null, ['1'], {}],
      ver: ['1', -1, 1.5, 2 ** 31, 2 ** 53, 1e300, null, [1], {}, true],
      family: ['', '\0', 'a\0b', '\ud800', 'x'.repeat(3000), 1, null, ['x'], {}],
      jti: ['', '\0', '\ud800', "' OR 1=1", 1, null, ['x'], {}],
      exp: [-1, 1.5, 1e300, 2 ** 53, '9999999999', null, [1], {}, true],
      iat: [-1, 1.5, -1e300, '1', null, [1], {}],
      type: [null, 1, ['access'], {}],
      iss: [null, 1, ['service'], {}],
      aud: [null, 1, {}, ['service', 'service/refresh', 'service/2fa']],
    }
    for (const [turn, kind] of allKinds.entries()) {
      const header = headerOf(tokens[kind])
      const claims = claimsOf(tokens[kind])
      const wrong = Object.entries(impossible).flatMap(([name, values]) =>
        [...values, undefined].map((value) => ({ ...claims, [name]: value })),
      )
      const all = [...wrong, {}, [], 'text', 1, null]
      for (const each of chosen(all, (_, i) => i % allKinds.length === turn)) {
        const { status, body } = await present[kind](hmac(header, each as object))
        assert.deepEqual([status, body], [401, { error: refusalOf[kind] }], `${kind} ${JSON.stringify(each)}`)
      }
    }
    assert.ok(!api.log.some((line) => line.includes('"level":"error"')))
  })
})

const keyTypes = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

for (const [algorithm, generate] of Object.entries(keyTypes)) {
  test(`${algorithm} signs with the key file, /.well-known/jwks.json has the public keys, and keys rotate`, async (t) => {
    const file = join(temporaryFolder(t), 'key.pem')
    const pemOf = () => generate().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const old = pemOf()
    writeFileSync(file, old)
    const env = { JWT_ALGORITHM: algorithm, JWT_PRIVATE_KEY_FILE: file }
    const api = await startApi(t, { env })
    const user = await signIn(api)
    assert.ok(await isSignedIn(api, user.access))

    const { status, body } = await api.get('/.well-known/jwks.json')
    assert.equal(status, 200)
    assert.equal(body.keys.length, 1)
    const [jwk] = body.keys
    assert.equal(jwk.d, undefined)
    assert.deepEqual([jwk.alg, jwk.use], [algorithm, 'sig'])
    const [head = '', claims = '', signature = ''] = user.access.split('.')
    assert.equal(JSON.parse(Buffer.from(head, 'base64url').toString()).kid, jwk.kid)
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
    const digest = algorithm === 'EdDSA' ? null : 'sha256'
    assert.ok(verify(digest, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')))

    writeFileSync(file, `${pemOf()}${old}`)
    await api.close()
    const rotated = await startApi(t, { env: { ...env, DATABASE_URL: api.databaseUrl } })
    assert.ok(await isSignedIn(rotated, user.access), 'the old key still verifies')
    assert.equal((await rotated.get('/.well-known/jwks.json')).body.keys.length, 2)
    const refreshed = await rotated.post('/api/auth/refresh', { refresh_token: user.refresh })
    const kid = JSON.parse(Buffer.from(refreshed.body.access_token.split('.')[0], 'base64url').toString()).kid
    assert.notEqual(kid, jwk.kid, 'the new key signs')
  })
}

for (const algorithm of ['HS384', 'HS512']) {
  test(`${algorithm} signs with the secret, and publishes no key`, async (t) => {
    const api = await startApi(t, { env: { JWT_ALGORITHM: algorithm } })
    const user = await signIn(api)
    assert.ok(await isSignedIn(api, user.access))
    assert.deepEqual((await api.get('/.well-known/jwks.json')).body, { keys: [] })
    assert.equal((await api.get('/me', hmac({ alg: 'HS256', typ: 'JWT' }, claimsOf(user.access)))).status, 401)
  })
}

test('a key file that is missing, empty or of the wrong kind stops the start with one line', async (t) => {
  const file = join(temporaryFolder(t), 'key.pem')
  const env = { JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY_FILE: file }
  await assert.rejects(startApi(t, { env }), /JWT_PRIVATE_KEY_FILE: .*key\.pem cannot be read \(ENOENT\)/)
  writeFileSync(file, 'nothing')
  await assert.rejects(startApi(t, { env }), /holds no private key/)
  writeFileSync(file, keyTypes.RS256().privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await assert.rejects(startApi(t, { env }), /ES256 needs a P-256 key/)
})
