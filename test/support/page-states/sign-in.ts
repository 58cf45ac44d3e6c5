import assert from 'node:assert/strict'
import { enter, fill, press, sees, tells } from '../console-steps.ts'
import { eventually } from '../eventually.ts'
import { again, logIn, password } from '../people.ts'
import { at, goTo, loggedToken, type PageState } from './page-state.ts'

export const signInStates: readonly PageState[] = [
  at('nobody', 'welcome', '/', 'Latchkey'),
  at('nobody', 'sign in', '/console/sign-in', 'Sign in'),
  {
    name: 'sign in, refused',
    as: 'nobody',
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/sign-in`, 'Sign in')
      await fill(page, { Email: 'nobody@example.com', Password: 'wrong' })
      await press(page, 'Sign in')
      await tells(page, 'Invalid credentials')
    },
  },
  {
    name: 'sign in, locked',
    as: 'nobody',
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/sign-in`, 'Sign in')
      await enter(page, people.locked.email)
      await tells(page, 'Too many failed attempts')
    },
  },
  {
    name: 'second factor',
    as: 'nobody',
    isChecked: true,
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/sign-in`, 'Sign in')
      await enter(page, people.careful.email)
      await sees(page, 'One more step')
    },
  },
  {
    name: 'second factor, refused',
    as: 'nobody',
    after: 'second factor',
    async open(page) {
      await fill(page, { Code: '000000' })
      await press(page, 'Go on')
      await page.getByText(/Invalid two-factor code|not right/).waitFor()
    },
  },
  at('nobody', 'register', '/console/register', 'Register'),
  {
    name: 'register, refused',
    as: 'nobody',
    isChecked: true,
    async open(page, { api, words }) {
      await goTo(page, `${api.url}/console/register`, 'Register')
      await fill(page, { Email: 'new@localhost', Name: words.person, Password: 'weak' })
      await press(page, 'Register')
      await tells(page, 'Must be a valid email address')
    },
  },
  {
    name: 'sign in, after registering',
    as: 'nobody',
    after: 'register, refused',
    async open(page) {
      await fill(page, { Email: 'new@example.com', Password: password })
      await press(page, 'Register')
      await tells(page, 'Your account is made')
    },
  },
  at('nobody', 'forgotten password', '/console/password/forgot', 'Forgotten password'),
  {
    name: 'new password, the token to be typed in',
    as: 'nobody',
    isChecked: true,
    after: 'forgotten password',
    async open(page, { people }) {
      await fill(page, { Email: people.member.email })
      await press(page, 'Write the message')
      await tells(page, 'the message is in the log')
    },
  },
  {
    name: 'new password',
    as: 'nobody',
    after: 'new password, the token to be typed in',
    async open(page, { api }) {
      const token = await eventually(
        () => /Reset token: ([\w-]+)/.exec(api.log.join(''))?.[1] ?? assert.fail('no message'),
      )
      await goTo(page, `${api.url}/console/password/reset?token=${token}`, 'New password')
      assert.equal(await page.getByLabel('Reset token').count(), 0, 'the link has it')
    },
  },
  {
    name: 'new password, refused',
    as: 'nobody',
    after: 'new password',
    async open(page) {
      await fill(page, { 'New password': 'weak' })
      await press(page, 'Change the password')
      await tells(page, 'Must be at least 8 characters')
    },
  },
  {
    name: 'new password, the link is over',
    as: 'nobody',
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/password/reset?token=made-up`, 'New password')
      await tells(page, 'This link does not work.')
    },
  },
  {
    name: 'new password, of an account with two-factor and passkeys',
    as: 'nobody',
    async open(page, { api, people }) {
      await api.db.write({
        sql: `INSERT INTO passkeys (id, user_id, credential_id, public_key, user_handle, counter, transports, device_type,
                                    backed_up, name, created_at)
              VALUES ('careful', $1, 'careful', '', '', 0, '[]', 'singleDevice', FALSE, 'Phone', $2)`,
        params: [people.careful.id, api.clock.nowIso()],
      })
      const token = await loggedToken(api, 'Reset', () =>
        api.post('/api/auth/password/forgot', { email: people.careful.email }),
      )
      await goTo(page, `${api.url}/console/password/reset?token=${token}`, 'New password')
      await tells(page, 'an administrator can reset two-factor')
    },
  },
  {
    name: 'address to confirm',
    as: 'nobody',
    isChecked: true,
    async open(page, { api, people }) {
      const { access } = await again(api, people.member)
      const token = await loggedToken(api, 'Verification', () =>
        api.post('/api/auth/email/verification', undefined, access),
      )
      await goTo(page, `${api.url}/console/verify?token=${token}`, 'Confirm your address')
    },
  },
  {
    name: 'address to confirm, refused',
    as: 'nobody',
    after: 'address to confirm',
    async open(page) {
      await fill(page, { Password: 'wrong' })
      await press(page, 'Confirm')
      await tells(page, 'This is not your password')
    },
  },
  {
    name: 'invitation, accepted by its link',
    as: 'nobody',
    isChecked: true,
    async open(page, { api, people }) {
      const { access } = await again(api, people.admin)
      const { body } = await api.post('/api/admin/users', { email: 'invited@example.com' }, access)
      await goTo(page, new URL(body.invite_url, api.url).href, 'Welcome')
    },
  },
  {
    name: 'invitation, refused',
    as: 'nobody',
    after: 'invitation, accepted by its link',
    async open(page) {
      await fill(page, { Password: 'weak' })
      await press(page, 'Set the password')
      await tells(page, 'Must be at least 8 characters')
    },
  },
  at('nobody', 'invitation, the link is over', '/console/invitation?token=made-up', 'Invitation'),
  {
    name: 'sign in, after an administrator ended the session',
    as: 'nobody',
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/sign-in`, 'Sign in')
      await enter(page, people.viewer.email)
      await sees(page, 'Products')
      const { access_token: token } = (await logIn(api, people.admin.email)).body
      assert.equal((await api.delete(`/api/admin/users/${people.viewer.id}/sessions`, token)).status, 204)
      await goTo(page, `${api.url}/console/account`, 'Sign in')
      await tells(page, 'An administrator signed you out.')
    },
  },
  {
    name: 'sign in, after a token was used twice',
    as: 'nobody',
    after: 'sign in, after an administrator ended the session',
    async open(page, { api, people }) {
      await enter(page, people.viewer.email)
      await sees(page, 'Account')
      await api.db.write({
        sql: `UPDATE sessions SET revoked_at = $1, expires_at = $1, ended_reason = 'reuse' WHERE user_id = $2`,
        params: [api.clock.nowSeconds(), people.viewer.id],
      })
      await goTo(page, `${api.url}/console/account`, 'Sign in')
      await tells(page, 'was used a second time')
    },
  },
  {
    name: 'a form that has expired',
    as: 'nobody',
    isChecked: true,
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/sign-in`, 'Sign in')
      await page.context().clearCookies()
      await enter(page, 'nobody@example.com')
      await sees(page, 'This form has expired')
    },
  },
  at('nobody', 'nothing', '/console/nowhere', 'There is nothing here'),
]
