/** Pages in a real Chromium. They close with their test; the browser itself is shared by the tests of a file. */
import { after, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchChromium } from './chromium.ts'

export interface Visit {
  page: Page
  /** The addresses of other hosts that the page asked for, sockets included. */
  strays: string[]
  /**
   * What the page wrote to the console as an error, breaches of its policy included, what it threw, and what it asked
   * or told in a box of the browser's.
   */
  errors: string[]
}

export interface VisitOptions {
  /** Of the service: what goes to another host is a stray. */
  url: string
  /** The page to open. */
  path: string
  /** Of the window, in CSS pixels. Below 600 it is a phone, with fingers. */
  width?: number
  /** Without them the browser runs no script at all. */
  hasScripts?: boolean
  userAgent?: string
  /** Where its reader lives, such as `Asia/Tokyo`. */
  timezone?: string
}

/** The widths that pages are looked at: a small phone and a laptop. */
export const widths = { phone: 375, desktop: 1280 } as const

let shared: Promise<Browser> | undefined
after(async () => (await shared)?.close())

/**
 * Opens a page as a person would who was never here before: nothing is stored in the browser. Called again it is
 * another browser, which knows nothing of the first.
 */
export async function openBrowser(t: TestContext, options: VisitOptions): Promise<Visit> {
  const { url, path, width = widths.desktop, hasScripts = true, userAgent, timezone } = options
  shared ??= launchChromium()
  const browser = await shared
  const isPhone = width < 600
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    isMobile: isPhone,
    hasTouch: isPhone,
    javaScriptEnabled: hasScripts,
    // What fades in is there at once: nothing is looked at halfway.
    reducedMotion: 'reduce',
    ...(userAgent !== undefined && { userAgent }),
    ...(timezone !== undefined && { timezoneId: timezone }),
  })
  context.setDefaultTimeout(60_000)
  t.after(() => context.close())
  const visit = await watch(context, new URL(url).host)
  await visit.page.goto(url + path)
  return visit
}

async function watch(context: BrowserContext, host: string): Promise<Visit> {
  const strays: string[] = []
  const errors: string[] = []
  const check = (address: string) => {
    const url = new URL(address)
    // What has no host, such as data:, leaves the browser nowhere.
    if (url.host !== '' && url.host !== host) strays.push(address)
  }
  context.on('request', (request) => check(request.url()))
  context.on('console', (message) => {
    const { url } = message.location()
    // A page that says what is wrong has such a status itself. That is no error of the page.
    const isItself = message.text().startsWith('Failed to load resource') && url === message.page()?.url()
    if (message.type() === 'error' && !isItself) errors.push(`${message.text()} (${url})`)
  })
  context.on('weberror', (error) => errors.push(String(error.error().stack)))
  context.on('dialog', (dialog) => {
    errors.push(`${dialog.type()}: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('page', (page) => page.on('websocket', (socket) => check(socket.url())))
  return { page: await context.newPage(), strays, errors }
}
