/** Webhooks are sent every change of the collections that they name, whoever may read the row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineFeature } from '../../src/platform/feature.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startHelpdesk } from '../support/helpdesk.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

onAnyEngine('a webhook of a collection', (engine) => {
  test('is sent every entry, and is created only by administrators', async (t) => {
    const roles = defineFeature({
      name: 'roles',
      create: () => undefined,
      roles: { hooks: ['webhooks.*', 'tickets.*'] },
    })
    const api = await startHelpdesk(t, engine, { extensions: [roles] })
    const { ada, chief } = api
    const receiver = await startReceiver(t)
    const manager = await api.signInAs('hooks')
    const create = (token: string) =>
      api.post('/api/admin/webhooks', { url: receiver.url, types: ['ticket.*', 'team.created'] }, token)
    assert.equal((await create(manager.access)).status, 403)
    assert.equal((await create(chief.access)).status, 201)
    const team = (await api.post('/api/teams', { name: 'Support' }, ada.access)).body.data.id
    const { id } = (await api.post('/api/tickets', { title: 'Printer', team }, ada.access)).body.data
    await api.request('PATCH', `/api/tickets/${id}`, { json: { cost: 3 }, token: chief.access })
    await api.delete(`/api/tickets/${id}`, chief.access)
    await eventually(() => assert.equal(receiver.received.length, 4))
    assert.deepEqual(
      receiver.received.map(({ message }) => message.type),
      ['team.created', 'ticket.created', 'ticket.updated', 'ticket.deleted'],
    )
    assert.deepEqual(receiver.received[2]?.message.data.attributes.cost, 3)
  })
})
