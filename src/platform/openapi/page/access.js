/** Whom the requests of "Try it" are from: nobody, who has the pasted token or key, or the session of the console. */
import { createSessionToken, signInAddress } from './session-token.js'

/** In sessionStorage: for this tab, until it is closed. */
const storageKey = 'latchkey:docs:credential'
const session = createSessionToken()
const find = (id) => document.getElementById(`docs-${id}`)
const [field, who] = [find('credential'), find('who')]
let usesSession = false

find('credential-form').addEventListener('submit', (event) => {
  event.preventDefault()
  if (field.value.trim() === '') return field.focus()
  forget()
  sessionStorage.setItem(storageKey, field.value.trim())
  field.value = ''
  show()
})
find('forget').addEventListener('click', () => {
  forget()
  show()
})
find('session').addEventListener('click', async () => {
  forget()
  usesSession = (await session.get()) !== undefined
  show()
  if (usesSession) return
  const link = Object.assign(document.createElement('a'), { href: signInAddress, textContent: 'Sign in' })
  who.replaceChildren('You are not signed in to the console. ', link, ', then come back.')
})
show()

function forget() {
  usesSession = false
  session.drop()
  sessionStorage.removeItem(storageKey)
}

function show() {
  who.textContent = `Requests are from ${sender()}.`
  for (const each of document.querySelectorAll('[data-who]')) each.textContent = sender()
}

export function sender() {
  if (usesSession) return 'you, by your session in the console'
  const pasted = sessionStorage.getItem(storageKey)
  return pasted === null ? 'nobody, without a token' : `whoever has the token ${pasted.slice(0, 5)}…`
}

export async function authorization() {
  const token = usesSession ? await session.get() : sessionStorage.getItem(storageKey)
  return token ? { authorization: `Bearer ${token}` } : {}
}

/** A session may have ended, or another one begun: the next request asks for a new token. */
export const refused = session.drop
