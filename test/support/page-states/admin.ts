import { enrol } from '../authenticator.ts'
import { fill, go, press, sees, tells } from '../console-steps.ts'
import { makeKey } from '../keys.ts'
import { again } from '../people.ts'
import { at, goTo, type PageState } from './page-state.ts'

const guest = 'guest@example.com'

export const adminStates: readonly PageState[] = [
  at('admin', 'users', '/console/users', 'Users'),
  at('admin', 'users, nobody found', '/console/users?q=nobody-has-this', 'Users'),
  at('admin', 'users, a page that is not', '/console/users?page=9', 'Users'),
  at('admin', 'users, sorted and filtered', '/console/users?sort=-name&filter[status]=active', 'Users'),
  at('admin', 'users, nobody passes the filters', '/console/users?filter[role]=none', 'Users'),
  at('admin', 'users, a filter that is refused', '/console/users?q=ada&sort=email', 'Users'),
  {
    name: 'users, nobody selected',
    as: 'admin',
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/users`, 'Users')
      await page.getByRole('button', { name: 'Disable' }).click()
      await sees(page, 'Nobody is selected')
    },
  },
  {
    name: 'users, several to be signed out',
    as: 'admin',
    isChecked: true,
    async open(page, { api, people }) {
      const columns = 'email,name,roles,two_factor,locked_until,created_at,email_verified_at,id'
      await goTo(page, `${api.url}/console/users?columns=${columns}`, 'Users')
      for (const who of ['careful', 'locked', 'admin'] as const) {
        await page.getByRole('checkbox', { name: `Select ${people[who].email}` }).check()
      }
      await page.getByRole('button', { name: 'Sign out' }).last().click()
      await sees(page, 'Sign 3 users out everywhere?')
    },
  },
  {
    name: 'users, several signed out but for one',
    as: 'admin',
    after: 'users, several to be signed out',
    async open(page) {
      await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
      await sees(page, 'Sign out: 2 of 3 users')
    },
  },
  ...(['member', 'careful', 'locked'] as const).map(
    (who): PageState => ({
      name: `user, ${who}`,
      as: 'admin',
      async open(page, { api, people }) {
        await goTo(page, `${api.url}/console/users/${people[who].id}`, people[who].email)
        await press(page, 'Save the roles')
        await tells(page, 'The roles are saved.')
      },
    }),
  ),
  ...(['admin', 'locked'] as const).map(
    (who): PageState => ({
      name: `user, ${who}, for who has less to give`,
      as: 'viewer',
      isChecked: who === 'admin',
      open: (page, { api, people }) => goTo(page, `${api.url}/console/users/${people[who].id}`, people[who].email),
    }),
  ),
  {
    name: 'user with API keys',
    as: 'admin',
    isChecked: true,
    async open(page, { api, words, people }) {
      const { access } = await again(api, people.member)
      const expires_at = new Date(api.clock.now() + 60_000).toISOString()
      await makeKey(api, access, {
        name: words.product.slice(0, 100),
        permissions: ['posts.*', words.category],
        expires_at,
      })
      await goTo(page, `${api.url}/console/users/${people.member.id}`, people.member.email)
      await tells(page, 'Programs act as this user by them.')
    },
  },
  {
    name: 'user with passkeys',
    as: 'admin',
    async open(page, { api, words, people }) {
      await enrol(api, await again(api, people.member), { name: words.person })
      await goTo(page, `${api.url}/console/users/${people.member.id}`, people.member.email)
      await tells(page, 'Each signs the user in')
    },
  },
  {
    name: 'user, the last administrator',
    as: 'admin',
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/users/${people.admin.id}`, people.admin.email)
      await page.getByRole('checkbox', { name: 'admin' }).uncheck()
      await press(page, 'Save the roles')
      await tells(page, 'This is the last administrator')
    },
  },
  at('admin', 'invite a user', '/console/users/invite', 'Invite a user'),
  {
    name: 'invite a user, refused',
    as: 'viewer',
    async open(page, { api, words, people }) {
      await goTo(page, `${api.url}/console/users/invite`, 'Invite a user')
      await fill(page, { Email: people.admin.email, Name: words.person })
      await press(page, 'Invite')
      await tells(page, 'Email already registered')
    },
  },
  {
    name: 'invitation, the link to hand over',
    as: 'admin',
    isChecked: true,
    async open(page, { api, words }) {
      await goTo(page, `${api.url}/console/users/invite`, 'Invite a user')
      await fill(page, { Email: guest, Name: words.person })
      await press(page, 'Invite')
      await sees(page, `Invitation for ${guest}`)
    },
  },
  {
    name: 'user, invited',
    as: 'admin',
    after: 'invitation, the link to hand over',
    async open(page) {
      await go(page, 'I have kept it')
      await tells(page, 'Not accepted yet')
    },
  },
  {
    name: 'user, profile refused',
    as: 'admin',
    after: 'user, invited',
    async open(page) {
      await fill(page, { Email: 'guest@localhost' })
      await press(page, 'Save the profile')
      await tells(page, 'Must be a valid email address')
    },
  },
  {
    name: 'user, disabled',
    as: 'admin',
    after: 'user, profile refused',
    async open(page) {
      await press(page, 'Disable')
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await tells(page, 'The user is disabled, and signed out everywhere.')
    },
  },
  {
    name: 'users, after a deletion',
    as: 'admin',
    after: 'user, disabled',
    async open(page) {
      await press(page, 'Delete')
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await tells(page, 'The user is deleted.')
    },
  },
  at('admin', 'backups that are not scheduled', '/console/backups', 'Backups'),
  {
    name: 'backups',
    as: 'admin',
    isChecked: true,
    async open(page, { api, words }) {
      const at = api.clock.nowSeconds()
      const row = (file: string | null, proved: boolean, error: string | null) =>
        api.db.write({
          sql: `INSERT INTO backups (started_at, finished_at, file, bytes, row_count, proved, error)
                VALUES ($1, $1, $2, 1234567, 89012, $3, $4)`,
          params: [at, file, proved, error],
        })
      await row('latchkey-20260101T000000Z.archive', true, null)
      await row('latchkey-20260102T000000Z.archive.unproved', false, words.description)
      await row(null, false, words.description)
      await goTo(page, `${api.url}/console/backups`, 'Backups')
      await tells(page, 'Not proved')
    },
  },
  at('admin', 'audit trail', '/console/audit', 'Audit trail'),
  at('admin', 'audit trail, a page that is not', '/console/audit?page=99', 'Audit trail'),
  at(
    'admin',
    'audit trail, filtered, with all columns',
    '/console/audit?sort=at&filter[outcome]=success&columns=at,event,user,outcome,address,device,actor',
    'Audit trail',
  ),
  at('admin', 'audit trail, nothing found', '/console/audit?filter[event]=none', 'Audit trail'),
  at('admin', 'audit trail, a filter that is refused', '/console/audit?filter[user]=nobody@example.com', 'Audit trail'),
]
