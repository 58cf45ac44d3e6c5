/** The receivers of docs/changes.md keep a copy of the table from webhooks. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { onEachEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/servers.ts'
import { createPrograms, startRestartable } from '../support/table-copies.ts'

const path = '/api/admin/webhooks'

onEachEngine('a copy of the table', (engine: Dialect) => {
  test('is kept by receiving webhooks, in TypeScript and in Python', async (t) => {
    const service = await startRestartable(t, engine)
    await service.fill(60)
    const receivers = { ts: await createWebhook(), py: await createWebhook() }
    const programs = createPrograms(t, 'receive', (language) => ({
      LATCHKEY_URL: service.api().url,
      PORT: String(receivers[language].port),
      WEBHOOK_SECRET: receivers[language].secret,
    }))

    async function createWebhook() {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}/`
      const { status, body } = await service.api().post(path, { url, types: ['product.*'] }, service.access())
      assert.equal(status, 201, JSON.stringify(body))
      return { id: body.data.id as number, secret: body.secret as string, port, url }
    }

    /** A receiver that was down gets the next attempt now. */
    async function assertEqual(): Promise<void> {
      await programs.assertEqual(async () => {
        const { body } = await service.api().get(path, service.access())
        for (const { next_attempt_at: next } of body.data as { next_attempt_at: string | null }[]) {
          const left = next === null ? 0 : Date.parse(next) - service.api().clock.now()
          if (left > 0) service.api().clock.advance(Math.ceil(left / 1000))
        }
        return service.table()
      })
    }

    async function start(): Promise<void> {
      programs.start()
      for (const { url } of Object.values(receivers)) {
        await eventually(async () => assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401))
      }
    }

    await service.change('before the receivers were there')
    await start()
    await assertEqual()
    await service.change('while they receive')
    await assertEqual()

    await programs.kill()
    await service.change('while they were killed')
    await service.restart()
    await start()
    await service.change('after a restart of the service')
    await assertEqual()

    for (const { id } of Object.values(receivers)) {
      const { body } = await service.api().get(`${path}/${id}/deliveries?limit=100`, service.access())
      const oldest = body.data.findLast((each: { status: string }) => each.status === 'delivered')
      const again = await service.api().post(`${path}/${id}/deliveries/${oldest.id}/retry`, {}, service.access())
      assert.equal(again.body.data.response_status, 204, JSON.stringify(again.body))
      const test = await service.api().post(`${path}/${id}/test`, {}, service.access())
      assert.equal(test.body.data.response_status, 204, JSON.stringify(test.body))
    }
    await assertEqual()

    const [product] = await service.table()
    for (const { url, secret } of Object.values(receivers)) {
      const now = Math.floor(Date.now() / 1000)
      const forge = (forged: Forged) =>
        sendForged(url, { secret, timestamp: now, data: JSON.parse(product ?? ''), ...forged })
      assert.equal(await forge({ secret: `whsec_${Buffer.alloc(32).toString('base64')}` }), 401, 'another secret')
      assert.equal(await forge({ timestamp: now - 400 }), 401, 'recorded earlier')
      assert.equal(await forge({ timestamp: now + 400 }), 401)
      assert.equal(await forge({ signature: '' }), 401)
      assert.equal(await forge({ signature: 'v1,' }), 401)
      assert.equal(await forge({ changed: true }), 401, 'another body')
    }
    await assertEqual()
    for (const { url, secret } of Object.values(receivers)) {
      const genuine = { secret, timestamp: Math.floor(Date.now() / 1000), data: JSON.parse(product ?? '') }
      assert.equal(await sendForged(url, genuine), 204)
    }
    await programs.assertEqual(async () => (await service.table()).slice(1))
  })
})

interface Forged {
  secret?: string
  timestamp?: number
  signature?: string
  /** After it was signed. */
  changed?: boolean
  data?: unknown
}

/** A message that tells of the deletion of a product. Returns the status of the answer. */
async function sendForged(
  url: string,
  { secret = '', timestamp = 0, signature, changed, data }: Forged,
): Promise<number> {
  const id = 'msg_999999999'
  const body = JSON.stringify({ type: 'product.deleted', timestamp: new Date(timestamp * 1000).toISOString(), data })
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const { status } = await fetch(url, {
    method: 'POST',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature ?? `v1,${signed}`,
    },
    body: changed ? `${body} ` : body,
  })
  return status
}
