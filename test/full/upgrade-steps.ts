/**
 * Everything that one node hands out and another must accept, in pairs: `issue` at one node, `use` at another. A step
 * throws if the other node responds in any way but the expected one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { assertPasskey, createPasskey } from '../support/authenticator.ts'
import { changesPath } from '../support/changes.ts'
import { openConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { mailedTokens } from '../support/mailbox.ts'
import { claimsOf, password } from '../support/people.ts'
import { productsPath } from '../support/products.ts'
import { type AccountStepOptions, accountSteps } from './upgrade-account-steps.ts'
import { type Exchange, expectStatus, logIn, type Node, signUp, step } from './upgrade-step.ts'

export function upgradeSteps(options: AccountStepOptions): Readonly<Record<string, Exchange>> {
  return { ...sessionSteps, ...credentialSteps(options), ...accountSteps(options), ...dataSteps(options) }
}

const sessionSteps: Record<string, Exchange> = {
  'access token': step({
    issue: signUp,
    use: async (node, { access }) => void expectStatus(await node.get('/me', access), 200),
  }),
  'refresh token': step({
    issue: signUp,
    use: async (node, { refresh }) => {
      const { body } = expectStatus(await node.post('/api/auth/refresh', { refresh_token: refresh }), 200)
      expectStatus(await node.get('/me', body.access_token), 200)
    },
  }),
  'repeated refresh': step({
    issue: async (node) => {
      const { refresh } = await signUp(node)
      const key = randomUUID()
      return { refresh, key, first: expectStatus(await refreshWith(node, refresh, key), 200).body }
    },
    use: async (node, { refresh, key, first }) => {
      const { body } = expectStatus(await refreshWith(node, refresh, key), 200)
      assert.equal(claimsOf(body.refresh_token).jti, claimsOf(first.refresh_token).jti)
    },
  }),
  'revoked token': step({
    issue: async (node) => {
      const { access } = await signUp(node)
      expectStatus(await node.post('/api/auth/logout', {}, access), 200)
      return access
    },
    use: async (node, access) => void expectStatus(await node.get('/me', access), 401),
  }),
  'two-factor challenge': step({
    issue: async (node) => {
      const { access, email } = await signUp(node)
      const { body } = expectStatus(await node.post('/api/auth/2fa/setup', { password }, access), 200)
      const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate()
      const enabled = expectStatus(await node.post('/api/auth/2fa/enable', { code }, access), 200)
      const login = expectStatus(await logIn(node, email), 200)
      return { challenge: login.body.challenge_token, code: enabled.body.recovery_codes[0] }
    },
    use: async (node, { challenge, code }) => {
      const { body } = expectStatus(await node.post('/api/auth/2fa/verify', { challenge_token: challenge, code }), 200)
      expectStatus(await node.get('/me', body.access_token), 200)
    },
  }),
  'known device': step({
    issue: async (node) => {
      const { email } = await signUp(node)
      const device = (await logIn(node, email)).headers.get('x-device-token') ?? ''
      for (let attempt = 1; attempt <= 5; attempt++) await logIn(node, email, 'Wrong-Horse-1')
      return { email, device }
    },
    use: async (node, { email, device }) => {
      expectStatus(await logIn(node, email), 423)
      expectStatus(await logIn(node, email, password, { 'x-device-token': device }), 200)
    },
  }),
  'console session': step({
    issue: async (node) => {
      const { email } = await signUp(node)
      const browser = openConsole(node)
      await browser.signIn(email)
      return browser.cookies
    },
    use: async (node, cookies) => {
      const browser = openConsole(node)
      for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
      const page = await browser.open('/console/account')
      assert.equal(page.status, 200)
      assert.match(page.text, /@example\.com/)
    },
  }),
}

function credentialSteps({ mailbox, admin }: AccountStepOptions): Record<string, Exchange> {
  return {
    'API key': step({
      issue: async (node) => {
        const { access } = await signUp(node)
        const { body } = expectStatus(await node.post('/api/auth/keys', { name: 'upgrade' }, access), 201)
        return body.key as string
      },
      use: async (node, key) => {
        expectStatus(await node.get('/api/auth/me', key), 200)
      },
    }),
    'passkey and its challenge': step({
      issue: async (node) => {
        const { access } = await signUp(node)
        const options = expectStatus(await node.post('/api/auth/passkeys/options', { password }, access), 200).body
        const { passkey, response } = createPasskey(options)
        expectStatus(await node.post('/api/auth/passkeys', { name: 'phone', response }, access), 201)
        return { passkey, options: expectStatus(await node.post('/api/auth/passkeys/login/options'), 200).body }
      },
      use: async (node, { passkey, options }) => {
        const response = assertPasskey(passkey, options)
        expectStatus(await node.post('/api/auth/passkeys/login', { response }), 200)
      },
    }),
    'password reset': step({
      issue: async (node) => {
        const { email } = await signUp(node)
        expectStatus(await node.post('/api/auth/password/forgot', { email }), 202)
        return {
          email,
          token: await eventually(() => mailedTokens(mailbox, 'Reset', email)[0] ?? assert.fail('no mail')),
        }
      },
      use: async (node, { email, token }) => {
        expectStatus(await node.post('/api/auth/password/reset', { token, password: 'Another-Pass-2' }), 200)
        expectStatus(await logIn(node, email, 'Another-Pass-2'), 200)
      },
    }),
    'verification link': step({
      issue: async (node) => {
        const { email, access } = await signUp(node)
        expectStatus(await node.post('/api/auth/email/verification', {}, access), 202)
        const token = await eventually(() => mailedTokens(mailbox, 'Verification', email)[0] ?? assert.fail('no mail'))
        return { access, token }
      },
      use: async (node, { access, token }) => {
        expectStatus(await node.post('/api/auth/email/verify', { token }, access), 200)
      },
    }),
    'role given to a user': step({
      issue: async (node) => {
        const user = await signUp(node)
        expectStatus(await node.put(`/api/admin/users/${user.id}/roles`, { roles: ['editor'] }, admin), 200)
        return user
      },
      use: async (node, { access }) => {
        assert.deepEqual(expectStatus(await node.get('/me', access), 200).body.roles, ['editor'])
      },
    }),
  }
}

function dataSteps({ onProduct, admin }: AccountStepOptions): Record<string, Exchange> {
  const create = async (node: Node, headers: Record<string, string> = {}, name = randomUUID()) => {
    const json = { name, description: 'Created during an upgrade', price: 12.5, category: 'upgrade' }
    const options = { json, headers, token: admin }
    const { body } = expectStatus(await node.request('POST', productsPath, options), 201)
    onProduct(body.data.id)
    return { id: body.data.id as number, name }
  }
  return {
    product: step({
      issue: create,
      use: async (node, { id }) => {
        expectStatus(await node.put(`${productsPath}/${id}`, { stock: 7 }, admin), 200)
        const { body } = expectStatus(await node.get(`${productsPath}/${id}`), 200)
        assert.equal(body.data.attributes.stock, 7)
      },
    }),
    'entity tag': step({
      issue: async (node) => {
        const { id } = await create(node)
        const { headers } = expectStatus(await node.get(`${productsPath}/${id}`), 200)
        return { id, tag: headers.get('etag') ?? '' }
      },
      use: async (node, { id, tag }) => {
        const options = { json: { stock: 3 }, headers: { 'if-match': tag }, token: admin }
        expectStatus(await node.request('PUT', `${productsPath}/${id}`, options), 200)
      },
    }),
    'idempotency key': step({
      issue: async (node) => {
        const key = randomUUID()
        return { key, ...(await create(node, { 'idempotency-key': key })) }
      },
      use: async (node, { key, id, name }) => {
        assert.equal((await create(node, { 'idempotency-key': key }, name)).id, id, 'created only once')
      },
    }),
    'change cursor of a list': step({
      issue: async (node) => {
        const { headers } = expectStatus(await node.get(`${productsPath}?per_page=1`), 200)
        return { cursor: headers.get('x-cursor') ?? '', id: (await create(node)).id }
      },
      use: (node, { cursor, id }) => findEntry(node, cursor, id),
    }),
    'change cursor of the log': step({
      issue: async (node) => {
        const { body } = expectStatus(await node.get(changesPath), 200)
        return { cursor: body.meta.cursor as string, id: (await create(node)).id }
      },
      use: (node, { cursor, id }) => findEntry(node, cursor, id),
    }),
    'list cursor': step({
      issue: async (node) => {
        for (let i = 0; i < 3; i++) await create(node)
        const path = `${productsPath}?sort=-id&per_page=2`
        const { body } = expectStatus(await node.get(path), 200)
        return { last: body.data.at(-1).id as number, path: `${path}&cursor=${body.meta.next}` }
      },
      use: async (node, { last, path }) => {
        const { body } = expectStatus(await node.get(path), 200)
        assert.ok(body.data[0].id < last, 'the next page begins after the last row of the one before')
      },
    }),
  }
}

function refreshWith(node: Node, refresh: string, key: string) {
  const options = { json: { refresh_token: refresh }, headers: { 'idempotency-key': key } }
  return node.request('POST', '/api/auth/refresh', options)
}

/** Reads on from the cursor, as a consumer of the log does: older transactions may hold the entry back for a while. */
async function findEntry(node: Node, cursor: string, id: number): Promise<void> {
  for (let after = cursor, isMissing = false; !isMissing; ) {
    const query = `after=${encodeURIComponent(after)}&limit=1000&wait=10`
    const { body } = expectStatus(await node.get(`${changesPath}?${query}`), 200)
    if (body.data.some((entry: { data: { id: number } }) => entry.data.id === id)) return
    isMissing = body.data.length === 0
    after = body.meta.cursor
  }
  assert.fail(`the entry of product ${id} is missing`)
}
