import { press, tells } from '../console-steps.ts'
import { makeKey } from '../keys.ts'
import { again } from '../people.ts'
import { at, goTo, type PageState } from './page-state.ts'

export const adminStates: readonly PageState[] = [
  at('admin', 'users', '/console/users', 'Users'),
  at('admin', 'users, nobody found', '/console/users?q=nobody-has-this', 'Users'),
  at('admin', 'users, a page that is not', '/console/users?page=9', 'Users'),
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
      open: (page, { api, people }) => goTo(page, `${api.url}/console/users/${people[who].id}`, people[who].email),
    }),
  ),
  {
    name: 'user with API keys',
    as: 'admin',
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
    name: 'user, the last administrator',
    as: 'admin',
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/users/${people.admin.id}`, people.admin.email)
      await page.getByRole('checkbox', { name: 'admin' }).uncheck()
      await press(page, 'Save the roles')
      await tells(page, 'This is the last administrator')
    },
  },
  at('admin', 'audit trail', '/console/audit', 'Audit trail'),
  at('admin', 'audit trail, a page that is not', '/console/audit?page=99', 'Audit trail'),
]
