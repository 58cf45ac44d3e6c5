/** Features add cards to pages that know nothing of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineFeature } from '../../src/platform/feature.ts'
import { html } from '../../src/platform/pages/html.ts'
import { openConsole } from '../support/console.ts'
import { startApiWithRoles } from '../support/roles.ts'

const section = (id: string, text: string) =>
  html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${text}</h2></section>`

const cards = defineFeature({
  name: 'cards',
  create: () => ({}),
  pages: () => ({
    accountCards: [
      { show: async (principal) => section('late', `Late card of ${principal.email}`) },
      { order: 10, show: (_principal, request) => section('early', `Early card at ${request.url}`) },
      { order: 20, show: () => undefined },
    ],
    userCards: [
      {
        show: ({ id, email, canChange }) =>
          section('of-user', `Card of ${email}, ${id}, ${canChange ? 'to change' : 'to read'}`),
      },
    ],
  }),
})

test('a feature adds cards to the account page and to the page of a user, in order', async (t) => {
  const api = await startApiWithRoles(t, { extensions: [cards] })
  const admin = await api.signInAs('admin')
  const viewer = await api.signInAs('viewer')
  const browser = openConsole(api)
  await browser.signIn(admin.email)

  const account = await browser.open('/console/account')
  assert.match(account.text, /Early card at \/console\/account.*Late card of /)
  assert.ok(account.text.includes(`Late card of ${admin.email}`))
  const user = await browser.open(`/console/users/${viewer.id}`)
  assert.ok(user.text.includes(`Card of ${viewer.email}, ${viewer.id}, to change`))
})
