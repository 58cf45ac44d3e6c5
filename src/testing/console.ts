/** A minimal browser for the console: it keeps cookies, parses forms and submits them. */
import assert from 'node:assert/strict'
import { createClient, testPassword } from './client.ts'

export interface Cookie {
  value: string
  /** Attributes as set by the service: `HttpOnly`, `Path=/` … */
  attributes: string[]
}

export interface ConsolePage {
  status: number
  headers: Headers
  /** As it was sent. */
  html: string
  /** The visible text, in one line. */
  text: string
  /** Where a redirect leads. */
  location: string | undefined
  /** The name of the notice on the page it leads to. */
  notice: string | undefined
  /** The hidden fields of the form that posts to this path, including `_token`. Fails if there is none. */
  hidden(action: string): Record<string, string>
  hasForm(action: string): boolean
}

export type Fields = Readonly<Record<string, string | readonly string[]>>

export interface ConsoleBrowser {
  cookies: Map<string, Cookie>
  open(path: string): Promise<ConsolePage>
  /** Sends a form of the page that was opened last, with its hidden fields. */
  submit(action: string, fields?: Fields): Promise<ConsolePage>
  /** Sends only these fields, as a page of another site could. */
  post(path: string, fields?: Fields, headers?: Record<string, string>): Promise<ConsolePage>
  /** Sends a body of another type, such as a form with a file. */
  postRaw(path: string, body: Buffer, type: string): Promise<ConsolePage>
  /** Opens the page that a redirect leads to. */
  follow(page: ConsolePage): Promise<ConsolePage>
  /** Signs in with the form, up to the next page. */
  signIn(email: string, given?: string): Promise<ConsolePage>
}

export function openConsole(api: { url: string }, { userAgent = 'Test/1.0' } = {}): ConsoleBrowser {
  const client = createClient(api.url)
  const cookies = new Map<string, Cookie>()
  let last: ConsolePage | undefined

  async function request(
    method: string,
    path: string,
    options: { body?: string | Buffer; headers?: Record<string, string> },
  ) {
    const cookie = [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    const response = await client.request(method, path, {
      ...options,
      headers: { 'user-agent': userAgent, ...(cookie !== '' && { cookie }), ...options.headers },
    })
    for (const line of response.headers.getSetCookie()) keep(cookies, line)
    last = readPage(response)
    return last
  }

  const post: ConsoleBrowser['post'] = (path, fields = {}, headers = {}) =>
    request('POST', path, {
      body: encode(fields),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })

  const open = (path: string) => request('GET', path, {})

  async function submit(action: string, fields: Fields = {}): Promise<ConsolePage> {
    assert.ok(last, 'no page is open')
    return post(action, { ...last.hidden(action), ...fields })
  }

  async function follow({ status, location }: ConsolePage): Promise<ConsolePage> {
    assert.equal(status, 303)
    return open(location ?? assert.fail('the redirect leads nowhere'))
  }

  return {
    cookies,
    open,
    submit,
    post,
    postRaw: (path, body, type) => request('POST', path, { body, headers: { 'content-type': type } }),
    follow,
    async signIn(email, given = testPassword) {
      await open('/console/sign-in')
      return follow(await submit('/console/sign-in', { email, password: given }))
    },
  }
}

function readPage(response: { status: number; headers: Headers; body: unknown }): ConsolePage {
  const html = typeof response.body === 'string' ? response.body : JSON.stringify(response.body)
  const forms = new Map(
    [...html.matchAll(/<form\b(?=[^>]* method="post")[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
      ([, action = '', inner = '']) => [unescapeHtml(action), inner],
    ),
  )
  return {
    status: response.status,
    headers: response.headers,
    html,
    text: unescapeHtml(html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')),
    location: response.headers.get('location') ?? undefined,
    notice: /latchkey_notice=([^%;]+)%20/.exec(response.headers.getSetCookie().join('\n'))?.[1],
    hasForm: (action) => forms.has(action),
    hidden(action) {
      const form =
        forms.get(action) ?? assert.fail(`no form posts to ${action}, but to ${[...forms.keys()].join(', ')}`)
      const inputs = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
      return Object.fromEntries(
        [...inputs].map(([, name = '', value = '']) => [unescapeHtml(name), unescapeHtml(value)]),
      )
    },
  }
}

function keep(cookies: Map<string, Cookie>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ')
  const [name = '', value = ''] = pair.split('=', 2)
  const isGone = attributes.some((each) => /^(Max-Age=0|Expires=Thu, 01 Jan 1970.*)$/i.test(each))
  if (isGone) cookies.delete(name)
  else cookies.set(name, { value, attributes })
}

function encode(fields: Fields): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) for (const each of [value].flat()) all.append(name, each)
  return all.toString()
}

function unescapeHtml(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}
