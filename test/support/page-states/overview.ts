import { logIn } from '../people.ts'
import { at, goTo, type PageState } from './page-state.ts'

export const overviewStates: readonly PageState[] = [
  at('admin', 'overview', '/console/overview', 'Overview'),
  {
    name: 'overview with figures, its tables open',
    as: 'admin',
    isChecked: true,
    async open(page, { api, people, stock }) {
      await stock()
      await logIn(api, people.member.email, 'wrong')
      await goTo(page, `${api.url}/console/overview`, 'Overview')
      for (const summary of await page.locator('.figures summary').all()) await summary.click()
    },
  },
]
