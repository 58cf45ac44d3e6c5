/** The screenshots of docs/console.md, in the order in which they are taken. */
import type { Page } from 'playwright-core'
import type { Shop } from './shop.ts'

export interface Picture {
  /** File name without its extension. */
  name: string
  device: 'desktop' | 'phone'
  /** Size of the window. */
  height: number
  scheme: 'light' | 'dark'
  /** Navigates from the product list to the page to show. */
  open(page: Page, shop: Shop): Promise<void>
}

const desktop = { device: 'desktop', height: 720, scheme: 'light' } as const

export const pictures: readonly Picture[] = [
  {
    name: 'products',
    ...desktop,
    open: async (page) => page.getByText('In stock').first().waitFor(),
  },
  {
    name: 'search-dark',
    ...desktop,
    height: 560,
    scheme: 'dark',
    async open(page) {
      await page.getByLabel('Part of the name').pressSequentially('lamp')
      await page.getByText('products found').waitFor()
    },
  },
  {
    name: 'products-phone',
    device: 'phone',
    height: 740,
    scheme: 'light',
    open: async (page) => page.getByText('In stock').first().waitFor(),
  },
  {
    name: 'conflict',
    ...desktop,
    height: 760,
    async open(page, { changeProduct }) {
      await page.getByRole('link', { name: 'Brass Desk Lamp' }).click()
      await page.getByRole('heading', { level: 1, name: 'Edit product' }).waitFor()
      await changeProduct('Brass Desk Lamp', { stock: 9 })
      await page.getByLabel('Price').fill('84')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Somebody else changed this product').waitFor()
    },
  },
  {
    name: 'two-factor',
    ...desktop,
    async open(page, { url, ada }) {
      await page.goto(`${url}/console/account/two-factor/set-up`)
      await page.getByLabel('Password').fill(ada.password)
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByText('Scan this picture').waitFor()
    },
  },
  {
    name: 'api-key',
    ...desktop,
    height: 520,
    async open(page, { url }) {
      await page.goto(`${url}/console/account/keys/new`)
      await page.getByLabel('Name').fill('Nightly price update')
      await page.getByLabel('Permissions').fill('products.*')
      await page.getByRole('button', { name: 'Make the key' }).click()
      await page.getByRole('heading', { name: 'Your API key' }).waitFor()
    },
  },
  {
    name: 'account',
    ...desktop,
    height: 1640,
    async open(page, { url }) {
      await page.goto(`${url}/console/account`)
      await page.getByText('This device').waitFor()
    },
  },
  {
    name: 'user',
    ...desktop,
    height: 1340,
    async open(page, { url }) {
      await page.goto(`${url}/console/users?q=katherine`)
      await page.getByRole('link', { name: 'katherine@example.com' }).click()
      await page.getByRole('heading', { name: 'Help this user' }).waitFor()
    },
  },
  {
    name: 'audit',
    ...desktop,
    async open(page, { url }) {
      await page.goto(`${url}/console/audit`)
      await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor()
    },
  },
]
