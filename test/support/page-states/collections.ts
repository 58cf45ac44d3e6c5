/** The pages of a collection: those of the help desk. */
import type { ConsoleFixture } from '../console-fixture.ts'
import { fill, press, tells } from '../console-steps.ts'
import { again } from '../people.ts'
import { at, goTo, type PageState } from './page-state.ts'

const list = '/console/tickets'

/** The ids of a team and of a ticket with the words, which are created once. */
const made = new WeakMap<ConsoleFixture, Promise<{ team: number; ticket: number }>>()

function createRows(fixture: ConsoleFixture): Promise<{ team: number; ticket: number }> {
  const rows = made.get(fixture) ?? create(fixture)
  made.set(fixture, rows)
  return rows
}

async function create({ api, people, words }: ConsoleFixture) {
  const { access } = await again(api, people.admin)
  const post = async (path: string, body: object): Promise<number> => (await api.post(path, body, access)).body.data.id
  const { admin, member } = people
  const team = await post('/api/teams', { name: words.product.slice(0, 80), members: [admin.id, member.id] })
  for (let i = 0; i < 26; i++) await post('/api/tickets', { title: `Ticket ${i}`, team, priority: 1 + (i % 5) })
  const body = words.description
  const ticket = await post('/api/tickets', { title: words.product, body, team, tags: [words.category.slice(0, 40)] })
  return { team, ticket }
}

export const collectionStates: readonly PageState[] = [
  at('member', 'tickets, none', `${list}?filter[status]=closed`, 'Tickets'),
  at('member', 'import of tickets', `${list}/import`, 'Import tickets'),
  {
    name: 'import of tickets, previewed',
    as: 'member',
    isChecked: true,
    after: 'import of tickets',
    async open(page, fixture) {
      const { team } = await createRows(fixture)
      const text = `title,team,priority\n"${fixture.words.product.replaceAll('"', '""')}",${team},3\nX,,9\n`
      const file = { name: 'tickets.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
      await page.getByLabel('File').setInputFiles(file)
      await press(page, 'Preview')
      await tells(page, '1 ticket to import, 1 row with problems')
    },
  },
  {
    name: 'import of tickets, done',
    as: 'member',
    after: 'import of tickets, previewed',
    async open(page) {
      await press(page, 'Import 1 ticket')
      await tells(page, '1 ticket is imported.')
    },
  },
  at('admin', 'tickets', `${list}?sort=-id`, 'Tickets'),
  at('viewer', 'tickets, to one who sees none', list, 'Tickets'),
  {
    name: 'ticket in its row, refused',
    as: 'admin',
    isChecked: true,
    async open(page, { api }) {
      await goTo(page, `${api.url}${list}?sort=-id&columns=title,status,priority`, 'Tickets')
      await page.locator('a[data-edit="priority"]').first().click()
      await page.getByLabel(/^Priority of /).fill('9')
      await press(page, 'Save')
      await tells(page, 'Must be at most 5')
    },
  },
  {
    name: 'tickets, a value asked for',
    as: 'admin',
    isChecked: true,
    async open(page, { api }) {
      await goTo(page, `${api.url}${list}?sort=-id`, 'Tickets')
      await page.locator('input[name="pick"]').first().check()
      await page.getByLabel('Action').selectOption('Set Assignee…')
      await press(page, 'Apply to selected')
      await page.getByRole('heading', { name: 'Set Assignee of 1 ticket' }).waitFor()
    },
  },
  at('member', 'new ticket', `${list}/new`, 'New ticket'),
  {
    name: 'new ticket, refused',
    as: 'member',
    after: 'new ticket',
    async open(page, { words }) {
      await fill(page, { Title: words.product, Due: words.category })
      await press(page, 'Create')
      await tells(page, 'Must be a date')
    },
  },
  {
    name: 'ticket, its team searched for',
    as: 'admin',
    isChecked: true,
    async open(page, fixture) {
      const { ticket } = await createRows(fixture)
      await goTo(page, `${fixture.api.url}${list}/${ticket}`, fixture.words.product)
      await page.getByRole('combobox', { name: 'Team' }).fill(fixture.words.product.slice(0, 5))
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'ticket, changed by somebody else',
    as: 'admin',
    isChecked: true,
    async open(page, fixture) {
      const { api, people, words } = fixture
      const { ticket } = await createRows(fixture)
      await goTo(page, `${api.url}${list}/${ticket}`, words.product)
      const { access } = await again(api, people.admin)
      await api.request('PATCH', `/api/tickets/${ticket}`, { json: { body: 'Other words' }, token: access })
      await fill(page, { Body: words.description })
      await press(page, 'Save')
      await tells(page, 'Someone else changed this while you were editing')
    },
  },
  {
    name: 'ticket, its history',
    as: 'admin',
    isChecked: true,
    async open(page, fixture) {
      const { ticket } = await createRows(fixture)
      const heading = `History of “${fixture.words.product}”`
      await goTo(page, `${fixture.api.url}${list}/${ticket}/history`, heading)
    },
  },
  {
    name: 'ticket, deleted',
    as: 'admin',
    async open(page, fixture) {
      const { api, people, words } = fixture
      const { ticket } = await createRows(fixture)
      const { access } = await again(api, people.admin)
      await api.delete(`/api/tickets/${ticket}`, access)
      await page.goto(`${api.url}${list}/${ticket}`)
      await page.getByRole('button', { name: 'Restore ticket' }).waitFor()
      await page.getByRole('heading', { level: 1, name: words.product }).waitFor()
    },
  },
]
