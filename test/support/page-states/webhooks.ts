import { fill, press, sees, tells } from '../console-steps.ts'
import { again } from '../people.ts'
import { at, goTo, type PageState } from './page-state.ts'

/** Nobody listens there. */
const url = 'http://127.0.0.1:65009/hooks/a-long-path-that-has-to-fit-on-a-small-screen'
const heading = 'The secret of the webhook'

export const webhookStates: readonly PageState[] = [
  at('admin', 'dead letters, none', '/console/dead-letters', 'Dead letters'),
  at('admin', 'jobs, none', '/console/jobs', 'Jobs'),
  at('admin', 'webhooks, none', '/console/webhooks', 'Webhooks'),
  at('admin', 'new webhook', '/console/webhooks/new', 'New webhook'),
  {
    name: 'new webhook, refused',
    as: 'admin',
    after: 'new webhook',
    async open(page, { words }) {
      await fill(page, { URL: `ftp://${words.product}`, Types: `product.*\n${words.product}` })
      await press(page, 'Make the webhook')
      await tells(page, 'Must be an event such as product.created or product.*')
    },
  },
  {
    name: 'webhook, its secret shown once',
    as: 'admin',
    isChecked: true,
    after: 'new webhook',
    async open(page, { words }) {
      await fill(page, { URL: url, Types: 'product.*\nuser.locked', Description: words.product.slice(0, 100) })
      await press(page, 'Make the webhook')
      await sees(page, heading)
    },
  },
  at('admin', 'webhooks, none in this state', '/console/webhooks?filter[status]=off', 'Webhooks'),
  at('admin', 'webhooks', '/console/webhooks?sort=-url', 'Webhooks'),
  {
    name: 'webhook with a failed delivery',
    as: 'admin',
    isChecked: true,
    after: 'webhooks',
    async open(page) {
      await page.getByRole('link', { name: url }).click()
      await sees(page, url)
      await press(page, 'Send a test')
      await tells(page, 'The message was not delivered.')
    },
  },
  {
    name: 'webhook, refused',
    as: 'admin',
    after: 'webhook with a failed delivery',
    async open(page) {
      await fill(page, { URL: 'nothing' })
      await press(page, 'Save the webhook')
      await tells(page, 'Must start with https:// or http://')
    },
  },
  {
    name: 'webhook, off',
    as: 'admin',
    async open(page, { api, people }) {
      const { access } = await again(api, people.admin)
      const [webhook] = (await api.get('/api/admin/webhooks', access)).body.data
      await api.put(`/api/admin/webhooks/${webhook.id}`, { enabled: false }, access)
      await goTo(page, `${api.url}/console/webhooks/${webhook.id}`, url)
      await tells(page, 'It goes on where it stopped.')
    },
  },
]
