import { enrol } from '../authenticator.ts'
import { secretOn } from '../console-fixture.ts'
import { fill, openMenu, press, sees, tells } from '../console-steps.ts'
import { makeKey } from '../keys.ts'
import { again, claimsOf, logIn, password, totp } from '../people.ts'
import { at, goTo, loggedToken, type PageState } from './page-state.ts'

const setUp = '/console/account/two-factor/set-up'
const off = '/console/account/two-factor/disable'

export const accountStates: readonly PageState[] = [
  at('admin', 'search', '/console/search?q=e', 'Search'),
  at('member', 'search, nothing found', '/console/search?q=%3Cb%3E', 'Search'),
  at('admin', 'keyboard shortcuts', '/console/shortcuts', 'Keyboard shortcuts'),
  at('member', 'design', '/console/design', 'Design'),
  {
    name: 'account menu',
    as: 'admin',
    isChecked: true,
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/account`, 'Account')
      await openMenu(page)
    },
  },
  at('member', 'account', '/console/account', 'Account'),
  {
    name: 'account with sessions that ended',
    as: 'member',
    async open(page, { api, people, words }) {
      const json = { email: people.member.email, password }
      const headers = { 'user-agent': words.userAgent }
      const ended = (await api.request('POST', '/api/auth/login', { json, headers })).body.access_token
      const { access_token: token } = (await logIn(api, people.member.email)).body
      await api.delete(`/api/auth/sessions/${claimsOf(ended).family}`, token)
      await goTo(page, `${api.url}/console/account`, 'Account')
      await tells(page, 'Ended in the last 30 days')
    },
  },
  {
    name: 'account, refused',
    as: 'member',
    after: 'account with sessions that ended',
    async open(page) {
      await fill(page, { 'Current password': 'wrong', 'New password': 'Another-Horse-1' })
      await press(page, 'Change the password')
      await tells(page, 'This is not your password')
    },
  },
  at('member', 'account, to delete', '/console/account/delete', 'Delete your account'),
  {
    name: 'new email, to confirm',
    as: 'member',
    isChecked: true,
    async open(page, { api, people }) {
      const { access } = await again(api, people.member)
      const token = await loggedToken(api, 'Confirmation', () =>
        api.post('/api/auth/email', { email: 'new-address@example.com', password }, access),
      )
      await goTo(page, `${api.url}/console/email/confirm?token=${token}`, 'Confirm your new address')
      await tells(page, 'new-address@example.com')
    },
  },
  at('nobody', 'new email, the link is over', '/console/email/confirm?token=made-up', 'This link does not work'),
  at('member', 'new API key', '/console/account/keys/new', 'New API key'),
  {
    name: 'new API key, refused',
    as: 'member',
    after: 'new API key',
    async open(page, { words }) {
      await fill(page, { Name: words.product, Permissions: `posts.view\n*.${words.product}` })
      await press(page, 'Make the key')
      await tells(page, 'Must be a permission such as')
    },
  },
  {
    name: 'API key, shown once',
    as: 'member',
    isChecked: true,
    after: 'new API key',
    async open(page, { words }) {
      await fill(page, { Name: words.product.slice(0, 100), Permissions: 'posts.view\nmedia.*' })
      await press(page, 'Make the key')
      await sees(page, 'Your API key')
    },
  },
  {
    name: 'account with API keys',
    as: 'member',
    async open(page, { api, words, people }) {
      await makeKey(api, (await again(api, people.member)).access, { name: words.product.slice(0, 100) })
      await goTo(page, `${api.url}/console/account`, 'Account')
      await tells(page, 'All that you may')
    },
  },
  at('member', 'access token', '/console/access-token', 'Access token'),
  {
    name: 'access token, shown',
    as: 'member',
    isChecked: true,
    after: 'access token',
    async open(page) {
      await press(page, 'Make an access token')
      await sees(page, 'Your access token')
    },
  },
  at('member', 'two-factor set-up', setUp, 'Set up two-factor'),
  {
    name: 'two-factor set-up, refused',
    as: 'member',
    after: 'two-factor set-up',
    async open(page) {
      await fill(page, { Password: 'wrong' })
      await press(page, 'Go on')
      await tells(page, 'This is not your password')
    },
  },
  {
    name: 'two-factor set-up, the picture',
    as: 'member',
    isChecked: true,
    after: 'two-factor set-up',
    async open(page) {
      await fill(page, { Password: password })
      await press(page, 'Go on')
      await tells(page, 'Scan this picture')
    },
  },
  {
    name: 'two-factor set-up, a wrong code',
    as: 'member',
    after: 'two-factor set-up, the picture',
    async open(page) {
      await fill(page, { Code: '000000' })
      await press(page, 'Turn on')
      await tells(page, 'Invalid two-factor code')
    },
  },
  {
    name: 'recovery codes',
    as: 'member',
    isChecked: true,
    after: 'two-factor set-up, the picture',
    async open(page, { api }) {
      await fill(page, { Code: totp(api, await secretOn(page)) })
      await press(page, 'Turn on')
      await sees(page, 'Your recovery codes')
    },
  },
  {
    name: 'account with a second factor',
    as: 'member',
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/account`, 'Account')
      await press(page, 'Save')
      await tells(page, 'Your profile is saved.')
    },
  },
  at('member', 'new recovery codes', '/console/account/two-factor/recovery-codes', 'New recovery codes'),
  at('member', 'turning two-factor off', off, 'Turn two-factor off'),
  {
    name: 'turning two-factor off, refused',
    as: 'member',
    after: 'turning two-factor off',
    async open(page) {
      await fill(page, { Password: password, Code: '000000' })
      await press(page, 'Turn off')
      await tells(page, 'This code is not right')
    },
  },
  {
    name: 'account with a passkey',
    as: 'viewer',
    isChecked: true,
    async open(page, { api, people, words }) {
      await enrol(api, await again(api, people.viewer), { name: words.person })
      await goTo(page, `${api.url}/console/account`, 'Account')
      await tells(page, 'Synced')
    },
  },
  {
    name: 'removing a passkey',
    as: 'viewer',
    isChecked: true,
    after: 'account with a passkey',
    async open(page) {
      await page.getByRole('link', { name: 'Remove', exact: true }).click()
      await sees(page, 'Remove a passkey')
    },
  },
  {
    name: 'removing a passkey, refused',
    as: 'viewer',
    after: 'removing a passkey',
    async open(page) {
      await fill(page, { Password: 'wrong' })
      await press(page, 'Remove')
      await tells(page, 'This is not your password')
    },
  },
  at('member', 'adding a passkey, at another host', '/console/account/passkeys/add', 'Add a passkey'),
  at('member', 'what one may not see', '/console/users', 'You may not do that'),
]
