/**
 * Every page of the console in every state, and how somebody comes there. A new page is added here, and is then looked
 * at by all tests that go through the list. They go in this order: what one leaves behind the next may need.
 */
import type { Page } from 'playwright-core'
import { type ConsoleGround, type Kind, secretOn } from './console-ground.ts'
import { enter, fill, press, sees, tells } from './console-visits.ts'
import { password, totp } from './people.ts'
import { productsPath } from './products.ts'

export interface Place {
  name: string
  as: Kind
  open(page: Page, ground: ConsoleGround): Promise<void>
}

/** A page that its address alone leads to. */
function at(as: Kind, name: string, path: string, heading: string): Place {
  return { name, as, open: (page, { api }) => goTo(page, `${api.url}${path}`, heading) }
}

async function goTo(page: Page, address: string, heading: string): Promise<void> {
  await page.goto(address)
  await sees(page, heading)
}

const signIn: Place[] = [
  at('nobody', 'welcome', '/', 'Latchkey'),
  at('nobody', 'sign in', '/console/sign-in', 'Sign in'),
  at('nobody', 'sign in, after something', '/console/sign-in?done=registered', 'Sign in'),
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
    async open(page, { api, people }) {
      await goTo(page, `${api.url}/console/sign-in`, 'Sign in')
      await enter(page, people.careful.email)
      await sees(page, 'One more step')
    },
  },
  {
    name: 'second factor, refused',
    as: 'nobody',
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
    async open(page, { api, words }) {
      await goTo(page, `${api.url}/console/register`, 'Register')
      await fill(page, { Email: 'new@localhost', Name: words.person, Password: 'weak' })
      await press(page, 'Register')
      await tells(page, 'Must be a valid email address')
    },
  },
  at('nobody', 'forgotten password', '/console/password/forgot', 'Forgotten password'),
  at('nobody', 'new password', '/console/password/reset?token=made-up', 'New password'),
  {
    name: 'new password, refused',
    as: 'nobody',
    async open(page) {
      await fill(page, { 'New password': 'weak' })
      await press(page, 'Change the password')
      await tells(page, 'Must be at least 8 characters')
    },
  },
  at('nobody', 'nothing', '/console/nowhere', 'There is nothing here'),
]

const products: Place[] = [
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
    async open(page, { api, words, visits }) {
      await goTo(page, `${api.url}/console/products?page=2`, 'Products')
      await visits.admin.page.goto(`${api.url}/console/products/new`)
      await fill(visits.admin.page, { Name: words.product, Description: 'Another', 'Price in dollars': '1' })
      await press(visits.admin.page, 'Create')
      await tells(page, '1 new product.')
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
    async open(page, { api, stock, words, visits }) {
      const address = `${api.url}/console/products/${await stock()}`
      await goTo(page, address, 'Edit product')
      await visits.admin.page.goto(address)
      await fill(visits.admin.page, { Description: `${words.description}, changed`, Stock: '4' })
      await press(visits.admin.page, 'Save')
      await tells(visits.admin.page, 'The product is saved.')
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
      await tells(page, 'The product is deleted.')
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

const setUp = '/console/account/two-factor/set-up'
const off = '/console/account/two-factor/disable'

const account: Place[] = [
  at('member', 'account', '/console/account', 'Account'),
  {
    name: 'account, refused',
    as: 'member',
    async open(page) {
      await fill(page, { 'Current password': 'wrong', 'New password': 'Another-Horse-1' })
      await press(page, 'Change the password')
      await tells(page, 'This is not your password')
    },
  },
  at('member', 'two-factor set-up', setUp, 'Set up two-factor'),
  {
    name: 'two-factor set-up, refused',
    as: 'member',
    async open(page) {
      await fill(page, { Password: 'wrong' })
      await press(page, 'Go on')
      await tells(page, 'This is not your password')
    },
  },
  {
    name: 'two-factor set-up, the picture',
    as: 'member',
    async open(page) {
      await fill(page, { Password: password })
      await press(page, 'Go on')
      await tells(page, 'Scan this picture')
    },
  },
  {
    name: 'two-factor set-up, a wrong code',
    as: 'member',
    async open(page) {
      await fill(page, { Code: '000000' })
      await press(page, 'Turn on')
      await tells(page, 'Invalid two-factor code')
    },
  },
  {
    name: 'recovery codes',
    as: 'member',
    async open(page, { api }) {
      await fill(page, { Code: totp(api, await secretOn(page)) })
      await press(page, 'Turn on')
      await sees(page, 'Your recovery codes')
    },
  },
  at('member', 'account with a second factor', '/console/account?done=profile-saved', 'Account'),
  at('member', 'new recovery codes', '/console/account/two-factor/recovery-codes', 'New recovery codes'),
  at('member', 'turning two-factor off', off, 'Turn two-factor off'),
  {
    name: 'turning two-factor off, refused',
    as: 'member',
    async open(page) {
      await fill(page, { Password: password, Code: '000000' })
      await press(page, 'Turn off')
      await tells(page, 'This code is not right')
    },
  },
  at('member', 'what one may not see', '/console/users', 'You may not do that'),
]

const admin: Place[] = [
  at('admin', 'users', '/console/users', 'Users'),
  at('admin', 'users, nobody found', '/console/users?q=nobody-has-this', 'Users'),
  at('admin', 'users, a page that is not', '/console/users?page=9', 'Users'),
  ...(['member', 'careful', 'locked'] as const).map(
    (who): Place => ({
      name: `user, ${who}`,
      as: 'admin',
      open: (page, { api, people }) =>
        goTo(page, `${api.url}/console/users/${people[who].id}?done=roles-saved`, people[who].email),
    }),
  ),
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

/** By part: each part stands for itself. */
export const placesByPart: Readonly<Record<string, readonly Place[]>> = { 'sign-in': signIn, products, account, admin }
