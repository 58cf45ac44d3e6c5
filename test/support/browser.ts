/** Pages in a real Chromium. They close with their test; the browser itself is shared by the tests of a file. */
import { after, type TestContext } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { getChromium } from './chromium.ts'

export interface Visit {
  page: Page
  /** The addresses of other hosts that the page asked for, sockets included. */
  strays: string[]
  /** What the page wrote to the console as an error, breaches of its policy included, and what it threw. */
  errors: string[]
}

export interface VisitOptions {
  /** Of the service: what goes to another host is a stray. */
  url: string
  /** The page to open. */
  path: string
}

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

let shared: Promise<Browser> | undefined
after(async () => (await shared)?.close())

/** Opens a page as a person would who was never here before: nothing is stored in the browser. */
export async function openBrowser(t: TestContext, { url, path }: VisitOptions): Promise<Visit> {
  shared ??= chromium.launch({ executablePath: getChromium(), args })
  const browser = await shared
  const context = await browser.newContext()
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
    if (message.type() === 'error') errors.push(`${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (error) => errors.push(String(error.error().stack)))
  context.on('page', (page) => page.on('websocket', (socket) => check(socket.url())))
  return { page: await context.newPage(), strays, errors }
}
