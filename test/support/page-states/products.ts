import { fill, listens, press, tells } from '../console-steps.ts'
import { password } from '../people.ts'
import { productsPath } from '../products.ts'
import { at, goTo, type PageState } from './page-state.ts'

export const productStates: readonly PageState[] = [
  at('member', 'products, none yet', '/console/products', 'Products'),
  at('viewer', 'products, none yet, to look at', '/console/products', 'Products'),
  {
    name: 'products',
    as: 'member',
    async open(page, { api, stock }) {
      await stock()
      await goTo(page, `${api.url}/console/products`, 'Products')
    },
  },
  at('member', 'products, the second page', '/console/products?page=2', 'Products'),
  at('member', 'products, a page that is not', '/console/products?page=9', 'Products'),
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
    async open(page, { words }) {
      await fill(page, { Name: words.product, Description: words.description, 'Price in dollars': words.product })
      await press(page, 'Create')
      await tells(page, 'Must be a number')
    },
  },
  {
    name: 'product',
    as: 'member',
    open: async (page, { api, stock }) => goTo(page, `${api.url}/console/products/${await stock()}`, 'Edit product'),
  },
  {
    name: 'product, to look at',
    as: 'viewer',
    async open(page, { api, stock, words }) {
      await goTo(page, `${api.url}/console/products/${await stock()}`, words.product)
    },
  },
  {
    name: 'product, changed by somebody else',
    as: 'member',
    async open(page, { api, stock, words, visit }) {
      const address = `${api.url}/console/products/${await stock()}`
      await goTo(page, address, 'Edit product')
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
    name: 'product, asked before it is deleted',
    as: 'member',
    async open(page, { api, stock }) {
      await goTo(page, `${api.url}/console/products/${await stock()}`, 'Edit product')
      await press(page, 'Delete this product')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'products, one deleted',
    as: 'member',
    async open(page) {
      await press(page, 'Delete')
      await tells(page, 'is deleted.')
    },
  },
  {
    name: 'product, deleted meanwhile',
    as: 'member',
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
