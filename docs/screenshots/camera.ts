/** Opens the console in Chromium and takes the screenshots. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { type Picture, pictures } from './pictures.ts'
import { type Shop, startShop } from './shop.ts'

const widths = { desktop: 1120, phone: 375 }
/** Client address and User-Agent of the browsers in the screenshots. */
const addresses = { desktop: '203.0.113.7', phone: '198.51.100.24' }
const userAgents = {
  desktop: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  phone:
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
}

export async function takePictures(folder: string): Promise<{ file: string; bytes: number }[]> {
  mkdirSync(folder, { recursive: true })
  const shop = await startShop()
  const browser = await launchChromium()
  try {
    const pages = { phone: await openPage(browser, shop, 'phone'), desktop: await openPage(browser, shop, 'desktop') }
    const taken = []
    for (const picture of pictures) {
      const bytes = await take(pages[picture.device], shop, { picture, folder })
      taken.push({ file: `${picture.name}.png`, bytes })
    }
    return taken
  } finally {
    await browser.close()
    await shop.close()
  }
}

async function take(
  page: Page,
  shop: Shop,
  { picture, folder }: { picture: Picture; folder: string },
): Promise<number> {
  const { name, device, height, scheme } = picture
  await page.setViewportSize({ width: widths[device], height })
  await page.emulateMedia({ colorScheme: scheme })
  await page.goto(`${shop.url}/console/products`)
  await picture.open(page, shop)
  // By then the scripts have written the times as the reader has them.
  await page.waitForLoadState('load')
  // No blinking cursor, and no hover styles.
  await page.mouse.move(0, 0)
  await page.evaluate('document.fonts.ready')
  const png = await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' })
  return png.length
}

async function openPage(browser: Browser, shop: Shop, device: Picture['device']): Promise<Page> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Europe/London',
    userAgent: userAgents[device],
    extraHTTPHeaders: { 'x-forwarded-for': addresses[device] },
  })
  const page = await context.newPage()
  // Asks to sign in first.
  await page.goto(`${shop.url}/console/products`)
  await page.getByLabel('Email').fill(shop.ada.email)
  await page.getByLabel('Password').fill(shop.ada.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Products' }).waitFor()
  return page
}
