/** The button that sends requests as the user who is signed in to the console. */
import { createSessionToken, signInAddress } from './session-token.js'

const session = createSessionToken()
const button = document.getElementById('session')
const status = document.getElementById('session-status')
let isOn = false

button.addEventListener('click', async () => {
  const wanted = !isOn
  session.drop()
  isOn = wanted && (await session.get()) !== undefined
  button.setAttribute('aria-pressed', String(isOn))
  status.textContent = isOn ? 'Requests are yours.' : ''
  if (isOn || !wanted) return
  const link = Object.assign(document.createElement('a'), { href: signInAddress, textContent: 'Sign in' })
  status.replaceChildren('You are not signed in to the console. ', link, ', then come back.')
})

/** Adds the token, unless the headers have another one. */
export async function withSession(headers = {}) {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const token = isOn && !isGiven ? await session.get() : undefined
  return token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` }
}

/** A session may have ended, or another one begun: the next request asks for a new token. */
export async function fetchAndCheck(url, options) {
  const response = await fetch(url, options)
  if (response.status === 401) session.drop()
  return response
}
