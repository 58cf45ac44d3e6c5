/** Meets the password policy. */
export const testPassword = 'Correct-Horse-1'

/** HTTP client for a service under test. */
export interface ClientResponse {
  status: number
  headers: Headers
  /** Parsed JSON, or text for any other content type. */
  // biome-ignore lint/suspicious/noExplicitAny: tests access bodies of every shape and assert what they find
  body: any
}

export interface RequestOptions {
  json?: unknown
  form?: Record<string, string>
  body?: string | Uint8Array
  headers?: Record<string, string>
  token?: string | undefined
}

export interface Exchange {
  request: { method: string; path: string; options: RequestOptions }
  response: ClientResponse
}

/** `onExchange` is called for each request that got a response. */
export function createClient(url: string, onExchange: (exchange: Exchange) => void = () => {}) {
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<ClientResponse> {
    const headers = new Headers(options.headers)
    if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`)
    let body: string | Uint8Array | undefined = options.body
    if (options.json !== undefined) {
      headers.set('content-type', 'application/json')
      body = JSON.stringify(options.json)
    } else if (options.form) {
      headers.set('content-type', 'application/x-www-form-urlencoded')
      body = new URLSearchParams(options.form).toString()
    }
    const response = await fetch(url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body: body as string }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
    const received = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    onExchange({ request: { method, path, options }, response: received })
    return received
  }
  return {
    request,
    get: (path: string, token?: string) => request('GET', path, { token }),
    post: (path: string, json: object = {}, token?: string) => request('POST', path, { json, token }),
    put: (path: string, json: object = {}, token?: string) => request('PUT', path, { json, token }),
    delete: (path: string, token?: string) => request('DELETE', path, { token }),
    /** Registers a user and signs in. Returns the access token. */
    async signIn(email = 'ada@example.com', password = testPassword): Promise<string> {
      await request('POST', '/api/auth/register', { json: { email, password, name: '' } })
      const { status, body } = await request('POST', '/api/auth/login', { json: { email, password } })
      if (status !== 200) throw new Error(`login failed with status ${status}`)
      return body.access_token
    },
  }
}
