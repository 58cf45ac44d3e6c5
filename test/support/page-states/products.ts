import type { Page } from 'playwright-core'
import { fill, listens, press, sees, tells } from '../console-steps.ts'
import { password } from '../people.ts'
import { productsPath } from '../products.ts'
import { at, goTo, type PageState } from './page-state.ts'

export const productStates: readonly PageState[] = [
  at('member', 'products, none yet', '/console/products', 'Products'),
  at('viewer', 'products, none yet, to look at', '/console/products', 'Products'),
  {
    name: 'products',
    as: 'member',
    isChecked: true,
    async open(page, { api, stock }) {
      await stock()
      await goTo(page, `${api.url}/console/products`, 'Products')
    },
  },
  at('member', 'import', '/console/products/import', 'Import products'),
  {
    name: 'import, refused',
    as: 'member',
    after: 'import',
    async open(page, { words }) {
      await chooseFile(page, `title,"${words.category.replaceAll('"', '""')}"\n`)
      await press(page, 'Preview')
      await tells(page, 'The file has no column name')
    },
  },
  {
    name: 'import, preview',
    as: 'member',
    isChecked: true,
    after: 'import',
    async open(page, { words }) {
      const cells = [words.person, words.description].map((text) => `"${text.replaceAll('"', '""')}"`)
      await chooseFile(page, `name,description,price,colour\n${cells},1,\n${cells},free,\n`)
      await press(page, 'Preview')
      await tells(page, '1 row is not imported')
    },
  },
  {
    name: 'import, done',
    as: 'member',
    isChecked: true,
    after: 'import, preview',
    async open(page) {
      await press(page, 'Import 1 product')
      await tells(page, '1 product is imported.')
    },
  },
  at('member', 'products, the second page', '/console/products?page=2', 'Products'),
  at('member', 'products, a page that is not', '/console/products?page=9', 'Products'),
  at('member', 'products, sorted and filtered', '/console/products?sort=-price&filter[stock][gte]=1', 'Products'),
  at('member', 'products, nothing passes a filter', '/console/products?filter[stock][gte]=99999', 'Products'),
  at('member', 'products, a filter that is wrong', '/console/products?filter[price][gte]=cheap', 'Products'),
  at('member', 'products, with other columns', '/console/products?columns=id,slug,price,created,changed', 'Products'),
  at('member', 'products, all of a page selected', '/console/products?select=page', 'Products'),
  {
    name: 'products, asked for a percentage',
    as: 'member',
    after: 'products, all of a page selected',
    async open(page) {
      await press(page, 'Price…')
      await sees(page, 'The price of 25 products')
    },
  },
  {
    name: 'products, a percentage that is too low',
    as: 'member',
    after: 'products, asked for a percentage',
    async open(page) {
      await fill(page, { 'Change in percent': '-100' })
      await press(page, 'Show the new prices')
      await tells(page, 'Must be more than -100')
    },
  },
  {
    name: 'products, new prices to look at',
    as: 'member',
    isChecked: true,
    after: 'products, asked for a percentage',
    async open(page) {
      await fill(page, { 'Change in percent': '10' })
      await press(page, 'Show the new prices')
      await tells(page, 'And 15 more.')
    },
  },
  {
    name: 'products, asked for a category',
    as: 'member',
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/products?select=page`, 'Products')
      await press(page, 'Category…')
      await sees(page, 'The category of 25 products')
    },
  },
  {
    name: 'products, asked before many are deleted',
    as: 'member',
    isChecked: true,
    async open(page, { api }) {
      await goTo(page, `${api.url}/console/products?q=Thing`, 'Products')
      await page.getByRole('checkbox', { name: 'Select Thing 2', exact: true }).check()
      await page.getByRole('checkbox', { name: 'Select Thing 3', exact: true }).check()
      await tells(page, '2 selected')
      await press(page, 'Delete…')
      await sees(page, 'Delete 2 products?')
    },
  },
  {
    name: 'products, one of many changed meanwhile',
    as: 'member',
    isChecked: true,
    after: 'products, asked before many are deleted',
    async open(page, { api, people }) {
      const { body } = await api.post('/api/auth/login', { email: people.member.email, password })
      const found = await api.get(`${productsPath}?q=Thing%202`)
      const [{ id }] = found.body.data
      await api.put(`${productsPath}/${id}`, { stock: 99 }, body.access_token)
      await press(page, 'Delete')
      await sees(page, '1 product deleted')
      await tells(page, 'changed by somebody else meanwhile')
    },
  },
  {
    name: 'products, back again',
    as: 'member',
    after: 'products, one of many changed meanwhile',
    async open(page) {
      await press(page, 'Undo')
      await tells(page, '1 product is back.')
    },
  },
  {
    name: 'products, one edited in its row',
    as: 'member',
    isChecked: true,
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products?edit=${await stock()}`, 'Products')
      await page.getByLabel(`Price of ${words.product}`).waitFor()
    },
  },
  {
    name: 'products, one edited in its row, refused',
    as: 'member',
    after: 'products, one edited in its row',
    async open(page, { words }) {
      await page.getByLabel(`Price of ${words.product}`).fill('1.234')
      await press(page, 'Save')
      await tells(page, 'is unclear')
    },
  },
  {
    name: 'products, found',
    as: 'member',
    async open(page, { api, words }) {
      await goTo(page, `${api.url}/console/products?q=${encodeURIComponent(words.product)}`, 'Products')
      await tells(page, '1 product found')
    },
  },
  {
    name: 'products, nothing found',
    as: 'member',
    async open(page, { api, words }) {
      const query = new URLSearchParams({ q: `${words.product}s`, category: words.category })
      await goTo(page, `${api.url}/console/products?${query}`, 'Products')
      await tells(page, 'No active product')
    },
  },
  {
    name: 'products, one created elsewhere',
    as: 'member',
    isChecked: true,
    async open(page, { api, words, visit }) {
      await goTo(page, `${api.url}/console/products?page=2`, 'Products')
      const other = (await visit('admin')).page
      await other.goto(`${api.url}/console/products/new`)
      await fill(other, { Name: words.product, Description: 'Another', 'Price in dollars': '1' })
      await press(other, 'Create')
      await tells(page, '1 new product.')
    },
  },
  {
    name: 'products, one deleted elsewhere under the eyes of who reads a later page',
    as: 'member',
    isChecked: true,
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/products?page=2`, 'Products')
      await listens(api)
      const { body } = await api.post('/api/auth/login', { email: people.member.email, password })
      const id = await page.locator('#results [data-id]').last().getAttribute('data-id')
      await api.delete(`${productsPath}/${id}`, body.access_token)
      await tells(page, '1 product of this list is deleted.')
    },
  },
  {
    name: 'products, a search without a connection',
    as: 'member',
    async open(page, { api, words }) {
      await goTo(page, `${api.url}/console/products`, 'Products')
      await page.route(`${api.url}/console/products?q=*`, (route) => route.fulfill({ status: 503 }))
      await fill(page, { 'Part of the name': words.product })
      await tells(page, 'No connection.')
    },
  },
  {
    name: 'products, old rows without a connection',
    as: 'member',
    after: 'products, a search without a connection',
    async open(page, { api }) {
      await page.route(`${api.url}/console/products`, (route) => route.fulfill({ status: 503 }))
      await fill(page, { 'Part of the name': '' })
      await tells(page, 'may be out of date')
      await page.unrouteAll()
    },
  },
  at('member', 'new product', '/console/products/new', 'New product'),
  {
    name: 'new product, refused',
    as: 'member',
    after: 'new product',
    async open(page, { words }) {
      await fill(page, { Name: words.product, Description: words.description, 'Price in dollars': words.product })
      await press(page, 'Create')
      await tells(page, 'Must be a number')
    },
  },
  {
    name: 'product',
    as: 'member',
    isChecked: true,
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products/${await stock()}`, words.product)
    },
  },
  {
    name: 'product, as others read it',
    as: 'member',
    isChecked: true,
    after: 'product',
    async open(page) {
      await page.getByText('As curl').click()
      await page.getByRole('region', { name: 'As curl' }).waitFor()
    },
  },
  {
    name: 'product, to be duplicated',
    as: 'member',
    async open(page, { api, stock }) {
      await goTo(page, `${api.url}/console/products/new?from=${await stock()}`, 'New product')
      await tells(page, 'Nothing is saved yet.')
    },
  },
  {
    name: 'product, with a price that is unclear',
    as: 'member',
    after: 'product, to be duplicated',
    async open(page) {
      await fill(page, { 'Price in dollars': '1.234' })
      await press(page, 'Create')
      await tells(page, 'is unclear')
    },
  },
  {
    name: 'product, to look at',
    as: 'viewer',
    isChecked: true,
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products/${await stock()}`, words.product)
    },
  },
  {
    name: 'product, changed by somebody else',
    as: 'member',
    async open(page, { api, stock, words, visit }) {
      const address = `${api.url}/console/products/${await stock()}`
      await goTo(page, address, words.product)
      const other = (await visit('admin')).page
      await other.goto(address)
      await fill(other, { Description: `${words.description}, changed`, Stock: '4' })
      await press(other, 'Save')
      await tells(other, 'The product is saved.')
      await fill(page, { Description: words.product })
      await press(page, 'Save')
      await tells(page, 'Somebody else changed this product')
    },
  },
  {
    name: 'product, its history',
    as: 'admin',
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products/${await stock()}`, words.product)
      await page.getByRole('heading', { name: 'History' }).scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'product, all of its history',
    as: 'viewer',
    isChecked: true,
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products/${await stock()}/history`, `History of “${words.product}”`)
    },
  },
  {
    name: 'product, asked before it is deleted',
    as: 'member',
    isChecked: true,
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products/${await stock()}`, words.product)
      await press(page, 'Delete this product')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'products, one deleted',
    as: 'member',
    after: 'product, asked before it is deleted',
    async open(page) {
      await press(page, 'Delete')
      await tells(page, 'is deleted.')
    },
  },
  {
    name: 'product, deleted meanwhile',
    as: 'member',
    after: 'products, one deleted',
    async open(page, { api, people, stock }) {
      await press(page, 'Undo')
      await tells(page, 'The product is back.')
      const { body } = await api.post('/api/auth/login', { email: people.member.email, password })
      await api.delete(`${productsPath}/${await stock()}`, body.access_token)
      await press(page, 'Save')
      await tells(page, 'deleted meanwhile')
    },
  },
]

async function chooseFile(page: Page, text: string): Promise<void> {
  await page.getByLabel('File').setInputFiles({ name: 'products.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
}
