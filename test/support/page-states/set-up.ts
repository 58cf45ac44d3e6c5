import { fill, press, sees, tells } from '../console-steps.ts'
import { password } from '../people.ts'
import { loggedPath } from '../set-up.ts'
import { at, goTo, type PageState } from './page-state.ts'

const heading = 'Set up Latchkey'

export const setUpStates: readonly PageState[] = [
  {
    name: 'set-up',
    as: 'nobody',
    isChecked: true,
    async open(page, { api, people }) {
      await api.grant(people.admin)
      await goTo(page, `${api.url}${await loggedPath(api)}`, heading)
    },
  },
  {
    name: 'set-up, refused',
    as: 'nobody',
    after: 'set-up',
    async open(page, { words }) {
      await fill(page, { Email: 'first@localhost', Name: words.person, Password: 'weak' })
      await press(page, 'Make the administrator')
      await tells(page, 'Must be a valid email address')
    },
  },
  at('nobody', 'set-up, a link that is over', '/console/setup?token=another', heading),
  {
    name: 'welcome of the first administrator',
    as: 'nobody',
    isChecked: true,
    async open(page, { api, words }) {
      await goTo(page, `${api.url}${await loggedPath(api)}`, heading)
      await fill(page, { Email: 'first@example.com', Name: words.person, Password: password })
      await press(page, 'Make the administrator')
      await sees(page, 'Welcome')
    },
  },
  {
    name: 'welcome, with sample products',
    as: 'nobody',
    after: 'welcome of the first administrator',
    async open(page) {
      await press(page, 'Add sample products')
      await page.getByRole('link', { name: 'See the products' }).waitFor()
    },
  },
  at('nobody', 'set-up, finished', '/console/setup', 'There is nothing here'),
]
