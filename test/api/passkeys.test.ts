/** Passkeys by the API, with an authenticator in software. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { share } from '../support/api.ts'
import { assertPasskey, createPasskey, enrol, localOrigin, logInWith, loginOptions } from '../support/authenticator.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { deviceTokenIn, logInFrom } from '../support/devices.ts'
import { holdWrite } from '../support/held-write.ts'
import { mailedToken, startWithMail } from '../support/mailbox.ts'
import { again, enableTwoFactor, isSignedIn, logIn, many, password, type SignedIn, signIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const limits = Object.fromEntries(['LOGIN', 'VERIFY', 'REGISTER'].map((name) => [`RATE_LIMIT_${name}`, '1000/60']))
const refused = [401, { error: 'Invalid credentials' }]
const invalid = [401, { error: 'Invalid passkey' }]

async function start(t: TestContext, env: Record<string, string>) {
  const api = await startApiWithRoles(t, { env: { ...limits, ...env } })
  return { api, user: await signIn(api) }
}

function creationOptions(api: ApiWithRoles, user: SignedIn, given = password) {
  return api.post('/api/auth/passkeys/options', { password: given }, user.access)
}

function add(api: ApiWithRoles, user: SignedIn, response: unknown, name = 'My phone') {
  return api.post('/api/auth/passkeys', { name, response }, user.access)
}

function remove(api: ApiWithRoles, user: SignedIn, id: string, given = password) {
  return api.request('DELETE', `/api/auth/passkeys/${id}`, { token: user.access, json: { password: given } })
}

async function list(api: ApiWithRoles, user: SignedIn) {
  return (await api.get('/api/auth/passkeys', user.access)).body.data
}

/** The audit trail of passkeys, of one user or of nobody. */
async function trail(api: ApiWithRoles, userId: number | null): Promise<string[]> {
  const rows = await api.db.all<{ event: string; outcome: string; user_id: number | null }>(
    'SELECT event, outcome, user_id FROM audit ORDER BY id',
  )
  return rows
    .filter((row) => row.user_id === userId && row.event.startsWith('passkey'))
    .map(({ event, outcome }) => `${event} ${outcome}`)
}

const shown = ({ status, body }: { status: number; body: unknown }) => [status, body]

onRacingEngine('passkeys', (engine) => {
  const shared = share((owner) => startApiWithRoles(owner, { engine, env: limits }))

  const begin = async () => {
    const api = await shared()
    return { api, user: await signIn(api) }
  }

  test('one is added with the password, listed, and signs in without it', async () => {
    const { api, user } = await begin()
    assert.deepEqual(await list(api, user), [])
    const options = await creationOptions(api, user)
    assert.equal(options.status, 200, JSON.stringify(options.body))
    assert.equal(options.headers.get('cache-control'), 'no-store')
    assert.deepEqual(options.body.rp, { id: 'localhost', name: 'Latchkey' })
    assert.equal(options.body.attestation, 'none')
    assert.deepEqual(options.body.authenticatorSelection, {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    })
    assert.equal(options.body.user.name, user.email)
    assert.notEqual(Buffer.from(options.body.user.id, 'base64url').toString(), String(user.id), 'tells nothing')

    const { passkey, response } = createPasskey(options.body)
    const added = await add(api, user, response, ' My phone ')
    assert.equal(added.status, 201, JSON.stringify(added.body))
    const [only] = await list(api, user)
    assert.deepEqual(added.body, { data: only })
    const { id, created_at, ...rest } = only
    assert.ok(id && created_at)
    assert.deepEqual(rest, { name: 'My phone', backed_up: true, last_used_at: null })

    const signedIn = await logInWith(api, passkey)
    assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
    assert.deepEqual(Object.keys(signedIn.body), Object.keys((await logIn(api, user.email)).body))
    assert.equal(signedIn.body.token_type, 'Bearer')
    assert.equal(signedIn.headers.get('cache-control'), 'no-store')
    assert.equal((await api.get('/me', signedIn.body.access_token)).body.email, user.email)
    assert.ok((await list(api, user))[0].last_used_at)
    assert.deepEqual(await trail(api, user.id), ['passkey_added success', 'passkey_login success'])
  })

  test('a second one on the same authenticator is excluded, and refused', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    const { body } = await creationOptions(api, user)
    assert.deepEqual(
      body.excludeCredentials.map(({ id }: { id: string }) => id),
      [passkey.id],
    )
    const { response } = createPasskey(body, { id: passkey.id })
    assert.deepEqual(shown(await add(api, user, response)), [409, { error: 'Passkey already registered' }])
    const stranger = await signIn(api)
    const options = await creationOptions(api, stranger)
    const stolen = createPasskey(options.body, { id: passkey.id })
    assert.equal((await add(api, stranger, stolen.response)).status, 409)
    assert.equal((await logInWith(api, passkey)).status, 200, 'it still is of its owner')
  })

  test('nobody has more than twenty, however many are added at once', async () => {
    const { api, user } = await begin()
    const all = await many(25, () => creationOptions(api, user))
    const answers = await many(25, (i) => add(api, user, createPasskey(all[i]?.body).response))
    assert.equal(answers.filter(({ status }) => status === 201).length, 20)
    for (const { status, body } of answers.filter((each) => each.status !== 201)) {
      assert.deepEqual([status, body], [409, { error: 'Too many passkeys' }])
    }
    assert.equal((await list(api, user)).length, 20)
    assert.deepEqual(shown(await creationOptions(api, user)), [409, { error: 'Too many passkeys' }])
  })

  test('the challenge of an enrolment works once, also in parallel, and for five minutes', async () => {
    const { api, user } = await begin()
    const { body } = await creationOptions(api, user)
    const answers = await many(10, () => add(api, user, createPasskey(body).response))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.deepEqual(shown(await add(api, user, createPasskey(body).response)), invalid)
    const late = await creationOptions(api, user)
    api.clock.advance(300)
    assert.deepEqual(shown(await add(api, user, createPasskey(late.body).response)), invalid)
    assert.equal((await list(api, user)).length, 1)
  })

  test('a login that is replayed is refused, and one that is late', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user, { counter: 1 })
    const response = assertPasskey(passkey, await loginOptions(api))
    const late = assertPasskey(passkey, await loginOptions(api))
    assert.equal((await api.post('/api/auth/passkeys/login', { response })).status, 200)
    assert.deepEqual(shown(await api.post('/api/auth/passkeys/login', { response })), refused)
    api.clock.advance(300)
    assert.deepEqual(shown(await api.post('/api/auth/passkeys/login', { response: late })), refused)
    assert.ok(!(await trail(api, user.id)).includes('passkey_counter failure'), 'a replay says nothing of the counter')
  })

  test('fifty parallel uses of one assertion make one session', async () => {
    const { api, user } = await begin()
    for (const counter of [0, 7]) {
      const { passkey } = await enrol(api, user, { counter })
      const before = (await api.get('/api/auth/sessions', user.access)).body.data.length
      const response = assertPasskey(passkey, await loginOptions(api))
      const answers = await many(amount({ full: 50, otherwise: 15 }), () =>
        api.post('/api/auth/passkeys/login', { response }),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 1)
      assert.equal((await api.get('/api/auth/sessions', user.access)).body.data.length, before + 1)
    }
    assert.ok(!(await trail(api, user.id)).includes('passkey_counter failure'))
  })

  test('a counter that goes back, or stays, is refused and audited', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user, { counter: 5 })
    assert.equal((await logInWith(api, passkey)).status, 200)
    for (const counter of [6, 5, 1, 0]) assert.deepEqual(shown(await logInWith(api, passkey, { counter })), refused)
    const audited = (await trail(api, user.id)).filter((each) => each === 'passkey_counter failure')
    assert.equal(audited.length, 4)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await logInWith(api, passkey, { counter: 1, privateKey })
    assert.equal((await trail(api, user.id)).at(-1), 'passkey_login failure', 'a counter is believed if it is signed')
    assert.equal((await logInWith(api, passkey, { counter: 100 })).status, 200)
  })

  test('of two that sign in at once, the one whose counter the other has passed is refused', async (t) => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user, { counter: 5 })
    const { reached, release } = holdWrite(t, api.db, 'UPDATE passkeys SET counter')
    const late = logInWith(api, passkey, { counter: 6 })
    await reached
    assert.equal((await logInWith(api, passkey, { counter: 7 })).status, 200)
    release()
    assert.deepEqual(shown(await late), refused)
  })

  test('one is removed with the password, by its owner alone, and signs in no more', async () => {
    const { api, user } = await begin()
    const { passkey, id } = await enrol(api, user)
    const other = await signIn(api)
    assert.deepEqual(shown(await remove(api, other, id)), [404, { error: 'Not found' }])
    assert.deepEqual(shown(await remove(api, user, 'nothing')), [404, { error: 'Not found' }])
    assert.deepEqual(shown(await remove(api, user, id, 'wrong')), refused)
    const signedIn = await logInWith(api, passkey)
    assert.equal((await remove(api, user, id)).status, 204)
    assert.deepEqual(await list(api, user), [])
    assert.deepEqual(shown(await logInWith(api, passkey)), refused)
    assert.ok(await isSignedIn(api, signedIn.body.access_token), 'its sessions go on')
    assert.equal((await remove(api, user, id)).status, 404)
    assert.equal((await trail(api, user.id)).at(-1), 'passkey_removed success')
  })

  test('a disabled user is refused as an unknown one, and a deleted one leaves nothing', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    await api.db.write({
      sql: 'UPDATE users SET disabled_at = $1, token_version = token_version + 1 WHERE id = $2',
      params: [api.clock.nowIso(), user.id],
    })
    assert.deepEqual(shown(await logInWith(api, passkey)), refused)
    await api.db.write({ sql: 'DELETE FROM users WHERE id = $1', params: [user.id] })
    assert.deepEqual(shown(await logInWith(api, passkey)), refused)
    assert.deepEqual(await api.db.all('SELECT id FROM passkeys WHERE user_id = $1', [user.id]), [])
  })

  test('parallel logins by password and by passkey never wait for each other for ever', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    const answers = await many(amount({ full: 30, otherwise: 16 }), (i) =>
      i % 2 === 0 ? logIn(api, user.email) : logInWith(api, passkey),
    )
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200).map(({ status }) => status),
      [],
    )
  })
})

onAnyEngine('passkeys', (engine) => {
  const shared = share((owner) => startApiWithRoles(owner, { engine, env: limits }))
  const mailing = share((owner) => startWithMail(owner, engine, limits))

  const begin = async () => {
    const api = await shared()
    return { api, user: await signIn(api) }
  }

  test('the options of a login name nobody and nothing, and differ each time', async () => {
    const { api, user } = await begin()
    await enrol(api, user)
    const [one, other] = [await loginOptions(api), await loginOptions(api)]
    const { challenge, ...rest } = one
    assert.deepEqual(rest, { rpId: 'localhost', timeout: 300_000, allowCredentials: [], userVerification: 'required' })
    assert.notEqual(challenge, other.challenge)
  })

  test('a wrong password gives no options, counts for the session, and locks it after five', async () => {
    const { api, user } = await begin()
    for (let i = 0; i < 4; i++) assert.deepEqual(shown(await creationOptions(api, user, 'wrong')), refused)
    assert.equal((await creationOptions(api, user, 'wrong')).status, 423)
    assert.equal((await creationOptions(api, user)).status, 423)
    assert.equal((await creationOptions(api, await again(api, user))).status, 200, 'another session is not locked')
  })

  test('an enrolment is refused from elsewhere, without verification, with certificates, or for another', async () => {
    const { api, user } = await begin()
    const other = await signIn(api)
    const x5c = Buffer.concat([Buffer.from('a163783563', 'hex'), Buffer.from('8141ff', 'hex')])
    for (const given of [
      { origin: 'http://127.0.0.1:3000' },
      { origin: 'https://evil.example' },
      { origin: 'http://localhost.evil.example' },
      { rpId: 'evil.example' },
      { type: 'webauthn.get' },
      { crossOrigin: true },
      { isVerified: false },
      { isPresent: false },
      { challenge: 'AAAA' },
      { challenge: (await loginOptions(api)).challenge },
      { challenge: (await creationOptions(api, other)).body.challenge },
      { challenge: (await creationOptions(api, await again(api, user))).body.challenge },
      { format: 'fido-u2f' },
      { format: 'packed', statement: x5c },
    ]) {
      const { body } = await creationOptions(api, user)
      const { response } = createPasskey(body, given)
      assert.deepEqual(shown(await add(api, user, response)), invalid, JSON.stringify(given))
    }
    assert.deepEqual(await list(api, user), [])
  })

  test('a name is needed, of at most a hundred characters', async () => {
    const { api, user } = await begin()
    const { body } = await creationOptions(api, user)
    const { response } = createPasskey(body)
    for (const [name, problem] of [
      [' ', 'Must not be blank'],
      ['x'.repeat(101), 'Must be at most 100 characters'],
    ] as const) {
      assert.deepEqual((await add(api, user, response, name)).body.details, { name: [problem] })
    }
    assert.equal((await add(api, user, response, 'x'.repeat(100))).status, 201)
  })

  test('a login is refused from elsewhere, without verification, for another, or signed by another', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    const other = await enrol(api, await signIn(api))
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { body: creation } = await creationOptions(api, user)
    for (const given of [
      { origin: 'http://127.0.0.1:3000' },
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { type: 'webauthn.create' },
      { crossOrigin: true },
      { isVerified: false },
      { isPresent: false },
      { challenge: 'AAAA' },
      { challenge: creation.challenge },
      { privateKey },
      { userHandle: '' },
      { userHandle: other.passkey.userHandle },
      { id: other.passkey.id },
      { id: other.passkey.id, userHandle: other.passkey.userHandle },
      { id: 'q7Jq2LmX0c4Vt8HsAAAAAA' },
    ]) {
      assert.deepEqual(shown(await logInWith(api, passkey, given)), refused, JSON.stringify(given))
    }
    assert.equal((await logInWith(api, passkey, { origin: 'http://localhost:5173' })).status, 200)
  })

  test('an unknown credential gets the very answer of a known one with a wrong signature', async () => {
    const { api, user } = await begin()
    const before = await trail(api, null)
    const { passkey } = await enrol(api, user)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const known = await logInWith(api, passkey, { privateKey })
    const unknown = await logInWith(api, passkey, { privateKey, id: 'AAAAAAAAAAAAAAAAAAAAAA' })
    assert.deepEqual(shown(known), shown(unknown))
    const names = ({ headers }: typeof known) => [...headers.keys()].sort()
    assert.deepEqual(names(known), names(unknown))
    assert.deepEqual(await trail(api, null), [...before, 'passkey_login failure'])
  })

  test('what is no response is refused, and breaks nothing', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    const good = assertPasskey(passkey, await loginOptions(api))
    const deep = Buffer.from(new Uint8Array(10_000).fill(0x81)).toString('base64url')
    for (const [change, status] of [
      [{ id: 7 }, 422],
      [{ response: 'x' }, 422],
      [{ response: {} }, 401],
      [{ type: 'password' }, 401],
      [{ rawId: 'AAAA' }, 401],
      [{ response: { ...good.response, clientDataJSON: 'bnVsbA' } }, 401],
      [{ response: { ...good.response, authenticatorData: 'AAAA' } }, 401],
      [{ response: { ...good.response, authenticatorData: deep } }, 401],
      [{ response: { ...good.response, signature: 'x'.repeat(100_000) } }, 401],
    ] as const) {
      const answer = await api.post('/api/auth/passkeys/login', { response: { ...good, ...change } })
      assert.equal(answer.status, status, JSON.stringify(change).slice(0, 80))
    }
    assert.equal((await api.post('/api/auth/passkeys/login', {})).status, 422)
    const { body } = await creationOptions(api, user)
    const made = createPasskey(body).response
    const broken = { ...made, response: { ...made.response, attestationObject: deep } }
    assert.deepEqual(shown(await add(api, user, broken)), invalid)
    assert.equal((await api.post('/api/auth/passkeys/login', { response: good })).status, 200, 'nothing used it up')
  })

  test('it is both factors: no code is asked for', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    await enableTwoFactor(api, user)
    assert.equal((await logIn(api, user.email)).body.requires_2fa, true)
    assert.equal((await logInWith(api, passkey)).body.token_type, 'Bearer')
  })

  test('a lock that strangers set stops no passkey, stays, and an open count is cleared', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    for (let i = 0; i < 4; i++) await logIn(api, user.email, 'wrong')
    assert.equal((await logInWith(api, passkey)).status, 200)
    for (let i = 0; i < 4; i++) assert.equal((await logIn(api, user.email, 'wrong')).status, 401, 'counted anew')
    const locked = await logIn(api, user.email, 'wrong')
    assert.equal(locked.status, 423)
    assert.equal((await logInWith(api, passkey)).status, 200)
    assert.deepEqual(shown(await logIn(api, user.email)), shown(locked))
  })

  test('it makes the device known, and keeps a known one', async () => {
    const { api, user } = await begin()
    const { passkey } = await enrol(api, user)
    const token = deviceTokenIn(await logInWith(api, passkey))
    for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
    assert.equal((await logInFrom(api, user.email, { token })).status, 200)
    const response = assertPasskey(passkey, await loginOptions(api))
    const answer = await api.request('POST', '/api/auth/passkeys/login', {
      json: { response },
      headers: { 'x-device-token': token },
    })
    assert.equal(answer.status, 200)
    assert.equal((await logInFrom(api, user.email, { token: deviceTokenIn(answer) })).status, 200)
  })

  test('a squatter of an address loses the passkeys to the reset of its owner, who keeps those of a verified one', async () => {
    const origin = 'https://app.example.com'
    const { api, mailbox } = await mailing()
    const squatter = await signIn(api)
    const { passkey } = await enrol(api, squatter, { origin })
    const reset = async () => {
      const ask = () => api.post('/api/auth/password/forgot', { email: squatter.email })
      const token = await mailedToken(mailbox, 'Reset', ask)
      assert.equal((await api.post('/api/auth/password/reset', { token, password })).status, 200)
    }
    await reset()
    assert.deepEqual(shown(await logInWith(api, passkey, { origin })), refused)
    const owner = await again(api, squatter)
    const { passkey: kept } = await enrol(api, owner, { origin })
    await reset()
    assert.equal((await logInWith(api, kept, { origin })).status, 200)
  })

  test('with auth.verify_email, an address that is not verified is refused as at login', async (t) => {
    const { api, mailbox } = await mailing()
    const user = await signIn(api)
    const { passkey } = await enrol(api, user, { origin: 'https://app.example.com' })
    const strict = await startApiWithRoles(t, {
      engine,
      env: {
        ...limits,
        DATABASE_URL: api.databaseUrl,
        MAIL_URL: mailbox.url,
        MAIL_FROM: 'latchkey@example.com',
        PUBLIC_URL: 'https://app.example.com',
        VERIFY_EMAIL: 'true',
      },
    })
    const answer = await logInWith(strict, passkey, { origin: 'https://app.example.com' })
    assert.deepEqual(shown(answer), [403, { error: 'Email not verified' }])
    assert.equal((await trail(strict, user.id)).at(-1), 'passkey_login refused')
    await strict.db.write({
      sql: 'UPDATE users SET email_verified_at = $1 WHERE id = $2',
      params: [strict.clock.nowIso(), user.id],
    })
    assert.equal((await logInWith(strict, passkey, { origin: 'https://app.example.com' })).status, 200)
  })
})

test('the relying party is the host of server.public_url, and only its origin may use passkeys', async (t) => {
  const { api, user } = await start(t, { PUBLIC_URL: 'https://auth.example.com:8443/' })
  const { body } = await creationOptions(api, user)
  assert.equal(body.rp.id, 'auth.example.com')
  assert.equal((await loginOptions(api)).rpId, 'auth.example.com')
  const origin = 'https://auth.example.com:8443'
  const { passkey } = await enrol(api, user, { origin })
  for (const wrong of [
    localOrigin,
    'https://auth.example.com',
    'http://auth.example.com:8443',
    `${origin}.evil.example`,
  ]) {
    assert.deepEqual(shown(await logInWith(api, passkey, { origin: wrong })), refused, wrong)
  }
  assert.equal((await logInWith(api, passkey, { origin })).status, 200)
})

test('in production without server.public_url, or with an address in it, there are no endpoints', async (t) => {
  for (const env of [{}, { PUBLIC_URL: 'https://203.0.113.7' }, { PUBLIC_URL: 'https://[2001:db8::7]' }]) {
    const { api, user } = await start(t, { NODE_ENV: 'production', ...env })
    for (const [method, path] of [
      ['POST', '/options'],
      ['POST', ''],
      ['GET', ''],
      ['DELETE', '/x'],
      ['POST', '/login/options'],
      ['POST', '/login'],
    ] as const) {
      for (const token of [undefined, user.access]) {
        const json = method === 'GET' ? undefined : {}
        const answer = await api.request(method, `/api/auth/passkeys${path}`, { token, json })
        assert.deepEqual(shown(answer), [404, { error: 'Not found' }], `${method} ${path}`)
      }
    }
    const signInPage = await api.get('/console/sign-in')
    assert.ok(!signInPage.body.includes('passkey') && !signInPage.body.includes('webauthn'))
  }
})
