/** Pages in a real Chromium. They close with their test; the browser itself is shared by the tests of a file. */
import { after } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Owner } from './api.ts'
import { launchChromium } from './chromium.ts'
import { chosen } from './tiers.ts'

export interface Visit {
  page: Page
  /** Requests and sockets of the page to other hosts. */
  strays: string[]
  /** Errors in the browser console (including CSP violations), exceptions, and dialogs of the page. */
  errors: string[]
}

export interface VisitOptions {
  /** URL of the service; requests to other hosts are strays. */
  url: string
  /** The page to open. Without one, none is. */
  path?: string
  /** Of a session that was made without a browser. */
  cookies?: Cookies
  /** Width of the window in CSS pixels. Below 600 it is a phone with a touch screen. */
  width?: number
  /** False: the browser runs no scripts. */
  hasScripts?: boolean
  userAgent?: string
  /** Time zone, such as `Asia/Tokyo`. */
  timezone?: string
}

export type Cookies = ReadonlyMap<string, { value: string }>

/** The widths at which pages are tested: a small phone and a laptop. */
export const widths = { phone: 375, desktop: 1280 } as const

/** The width of this device; in `npm run test:full` also that of the other. */
export function widthsFor(device: keyof typeof widths): readonly [device: string, width: number][] {
  return chosen(Object.entries(widths), ([name]) => name === device)
}

let shared: Promise<Browser> | undefined
after(async () => (await shared)?.close())

/** Opens a page in a new browser profile with empty storage. Each call opens a separate one. */
export async function openBrowser(t: Owner, options: VisitOptions): Promise<Visit> {
  const { url, path, cookies = new Map(), width = widths.desktop, hasScripts = true, userAgent, timezone } = options
  shared ??= launchChromium()
  const browser = await shared
  const isPhone = width < 600
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    isMobile: isPhone,
    hasTouch: isPhone,
    javaScriptEnabled: hasScripts,
    // Animations finish at once, so that nothing is checked halfway.
    reducedMotion: 'reduce',
    ...(userAgent !== undefined && { userAgent }),
    ...(timezone !== undefined && { timezoneId: timezone }),
  })
  context.setDefaultTimeout(60_000)
  t.after(() => context.close())
  const visit = await watch(context, new URL(url).host)
  await context.addCookies([...cookies].map(([name, { value }]) => ({ name, value, url })))
  if (path !== undefined) await visit.page.goto(url + path)
  return visit
}

async function watch(context: BrowserContext, host: string): Promise<Visit> {
  const strays: string[] = []
  const errors: string[] = []
  const check = (address: string) => {
    const url = new URL(address)
    // URLs without a host, such as data:, do not leave the browser.
    if (url.host !== '' && url.host !== host) strays.push(address)
  }
  context.on('request', (request) => check(request.url()))
  context.on('console', (message) => {
    const { url } = message.location()
    // An error page has such a status itself, which is not an error of the page.
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
