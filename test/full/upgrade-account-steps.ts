/** Links in mails, forms, limited keys, passkeys and webhooks: what upgrade-steps.ts says holds for these. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { assertPasskey, createPasskey } from '../support/authenticator.ts'
import { openConsole } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { type Mailbox, mailedTokens } from '../support/mailbox.ts'
import { password } from '../support/people.ts'
import { productsPath } from '../support/products.ts'
import { type Receiver, verify } from '../support/webhook-receiver.ts'
import { type Exchange, expectStatus, logIn, type Node, signUp, step } from './upgrade-step.ts'

export interface AccountStepOptions {
  mailbox: Mailbox
  /** Receives the webhooks that the steps create. */
  receiver: Receiver
  /** An administrator's access token, from either release. */
  admin: string
  /** Notified of each product that was created. */
  onProduct(id: number): void
}

export function accountSteps({ mailbox, receiver, admin, onProduct }: AccountStepOptions): Record<string, Exchange> {
  const mailed = (kind: string, to: string) =>
    eventually(() => mailedTokens(mailbox, kind, to)[0] ?? assert.fail(`no mail with a ${kind.toLowerCase()} token`))
  return {
    'change of email': step({
      issue: async (node) => {
        const { access } = await signUp(node)
        const email = `${randomUUID()}@example.com`
        expectStatus(await node.post('/api/auth/email', { email, password }, access), 202)
        return { access, email, token: await mailed('Confirmation', email) }
      },
      use: async (node, { access, email, token }) => {
        expectStatus(await node.post('/api/auth/email/confirm', { token }, access), 200)
        expectStatus(await logIn(node, email), 200)
      },
    }),
    invitation: step({
      issue: async (node) => {
        const email = `${randomUUID()}@example.com`
        expectStatus(await node.post('/api/admin/users', { email, roles: ['editor'] }, admin), 201)
        return { email, token: await mailed('Invitation', email) }
      },
      use: async (node, { email, token }) => {
        const browser = openConsole(node)
        await browser.open(`/console/invitation?token=${token}`)
        const accepted = await browser.submit('/console/invitation', { password })
        assert.equal(accepted.notice, 'invitation-accepted', accepted.text)
        const { body } = expectStatus(await logIn(node, email), 200)
        assert.deepEqual(expectStatus(await node.get('/me', body.access_token), 200).body.roles, ['editor'])
      },
    }),
    'console form': step({
      issue: async (node) => {
        const { email, access } = await signUp(node)
        const browser = openConsole(node)
        await browser.signIn(email)
        const page = await browser.open('/console/account')
        return { access, cookies: browser.cookies, form: page.hidden('/console/account/profile') }
      },
      use: async (node, { access, cookies, form }) => {
        const browser = openConsole(node)
        for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
        const saved = await browser.post('/console/account/profile', { ...form, name: 'Grace' })
        assert.equal(saved.status, 303, saved.text)
        assert.equal(expectStatus(await node.get('/me', access), 200).body.name, 'Grace')
      },
    }),
    'limited API key': step({
      issue: async (node) => {
        const { access } = await signUp(node)
        const limited = { name: 'upgrade', permissions: ['products.create'] }
        return expectStatus(await node.post('/api/auth/keys', limited, access), 201).body.key as string
      },
      use: async (node, key) => {
        const json = { name: randomUUID(), description: 'Created with a key', price: 12.5, category: 'upgrade' }
        onProduct(expectStatus(await node.post(productsPath, json, key), 201).body.data.id)
      },
    }),
    'passkey removal': step({
      issue: async (node) => {
        const { access } = await signUp(node)
        const [removed, kept] = [await addPasskey(node, access), await addPasskey(node, access)]
        expectStatus(await removePasskey(node, access, removed.id), 204)
        return { access, removed, kept }
      },
      use: async (node, { access, removed, kept }) => {
        expectStatus(await logInWithPasskey(node, removed.passkey), 401)
        expectStatus(await logInWithPasskey(node, kept.passkey), 200)
        expectStatus(await removePasskey(node, access, kept.id), 204)
        expectStatus(await logInWithPasskey(node, kept.passkey), 401)
      },
    }),
    'webhook secret': step({
      issue: async (node) => {
        const webhook = { url: receiver.url, types: ['product.deleted'] }
        const { body } = expectStatus(await node.post('/api/admin/webhooks', webhook, admin), 201)
        return { id: body.data.id as number, secret: body.secret as string }
      },
      use: async (node, { id, secret }) => {
        const path = `/api/admin/webhooks/${id}`
        const { data } = expectStatus(await node.post(`${path}/test`, {}, admin), 200).body
        assert.equal(data.status, 'delivered', JSON.stringify(data))
        verify(secret, receiver.received.find((each) => each.id === data.message_id) ?? assert.fail('not received'))
        expectStatus(await node.delete(path, admin), 204)
      },
    }),
  }
}

async function addPasskey(node: Node, access: string) {
  const options = expectStatus(await node.post('/api/auth/passkeys/options', { password }, access), 200).body
  const { passkey, response } = createPasskey(options)
  const { body } = expectStatus(await node.post('/api/auth/passkeys', { name: 'phone', response }, access), 201)
  return { passkey, id: body.data.id as string }
}

function removePasskey(node: Node, access: string, id: string) {
  return node.request('DELETE', `/api/auth/passkeys/${id}`, { token: access, json: { password } })
}

async function logInWithPasskey(node: Node, passkey: Parameters<typeof assertPasskey>[0]) {
  const options = expectStatus(await node.post('/api/auth/passkeys/login/options'), 200).body
  return node.post('/api/auth/passkeys/login', { response: assertPasskey(passkey, options) })
}
