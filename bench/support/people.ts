export const person = { email: 'bench@example.com', password: 'Correct-Horse-1' }

/** Registers a user and returns an access token. */
export async function signIn(url: string): Promise<string> {
  await post(`${url}/api/auth/register`, person)
  return ((await post(`${url}/api/auth/login`, person)) as { access_token: string }).access_token
}

async function post(url: string, json: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  return response.json()
}
