/** A program that reads and writes products by an API key. docs/machines.md tells about it. */
const base = process.env.LATCHKEY_URL ?? 'http://localhost:3000'
const key = process.env.LATCHKEY_KEY

export async function call(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (response.status === 401) throw new Error('the key is unknown, ended or expired')
  if (response.status === 403) throw new Error(`the key, or its owner, may not ${method} ${path}`)
  if (!response.ok) throw new Error(`${method} ${path} failed with ${response.status}`)
  return response.status === 204 ? undefined : response.json()
}

export const addLamp = () =>
  call('POST', '/api/v2/products', { name: 'Desk Lamp', description: 'Bright and warm', price: 19.99 })
