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
    name: 'overview',
    ...desktop,
    height: 800,
    async open(page, { url }) {
      await page.goto(`${url}/console/overview`)
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    },
  },
  {
    name: 'palette',
    ...desktop,
    height: 560,
    async open(page) {
      await isLive(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').pressSequentially('la')
      await page.getByRole('option', { name: 'Brass Desk Lamp' }).waitFor()
    },
  },
  {
    name: 'products',
    ...desktop,
    open: isLive,
  },
  {
    name: 'search-dark',
    ...desktop,
    height: 640,
    scheme: 'dark',
    async open(page) {
      await page.getByLabel('Part of the name').pressSequentially('lamp')
      await page.getByText('products found').waitFor()
      await isLive(page)
    },
  },
  {
    name: 'products-phone',
    device: 'phone',
    height: 740,
    scheme: 'light',
    open: isLive,
  },
  {
    name: 'conflict',
    ...desktop,
    height: 760,
    async open(page, { changeProduct }) {
      await page.getByRole('link', { name: 'Brass Desk Lamp' }).click()
      await page.getByRole('heading', { level: 1, name: 'Brass Desk Lamp' }).waitFor()
      await changeProduct('Brass Desk Lamp', { stock: 9 })
      await page.getByLabel('Price').fill('84')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Somebody else changed this product').waitFor()
    },
  },
  {
    name: 'history',
    ...desktop,
    height: 560,
    async open(page) {
      await page.getByRole('link', { name: 'Brass Desk Lamp' }).click()
      await page.getByLabel('Price').fill('84')
      await page.getByLabel('Category').fill('office')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The product is saved.').waitFor()
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
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
    height: 1440,
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

async function isLive(page: Page): Promise<void> {
  await page.getByText('In stock').first().waitFor()
  await page.locator('#live[data-state="live"]').waitFor()
}
