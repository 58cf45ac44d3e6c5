/** Speaks HTTP to a service under test. */
export interface Answer {
  status: number
  headers: Headers
  /** The parsed JSON, or the text where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape and assert what they find
  body: any
}

export interface RequestOptions {
  json?: unknown
  form?: Record<string, string>
  body?: string | Uint8Array
  headers?: Record<string, string>
  token?: string | undefined
}

export function createClient(url: string) {
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
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
    const answer = await fetch(url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body: body as string }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') && text !== ''
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
  }
  return {
    request,
    get: (path: string, token?: string) => request('GET', path, { token }),
    post: (path: string, json: object = {}, token?: string) => request('POST', path, { json, token }),
    put: (path: string, json: object = {}, token?: string) => request('PUT', path, { json, token }),
    delete: (path: string, token?: string) => request('DELETE', path, { token }),
    /** Registers a user, and returns the access token of a login. */
    async signIn(email = 'ada@example.com', password = 'Correct-Horse-1'): Promise<string> {
      await request('POST', '/api/auth/register', { json: { email, password, name: '' } })
      const { status, body } = await request('POST', '/api/auth/login', { json: { email, password } })
      if (status !== 200) throw new Error(`the login was answered ${status}`)
      return body.access_token
    },
  }
}
