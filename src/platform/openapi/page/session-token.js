/**
 * Access tokens of the session that this browser has in the console. They stay in the memory of the page; when one is
 * about to expire, the next use asks for another.
 */
const address = new URL('console/access-token', location.href)
/** Where to sign in if there is no session. */
export const signInAddress = new URL('console/sign-in?next=/console/access-token', location.href)
const marginMs = 10_000

export function createSessionToken() {
  let held
  return {
    /** Returns undefined if nobody is signed in. */
    async get() {
      if (!held || performance.now() > held.until) held = await ask()
      return held?.token
    },
    drop() {
      held = undefined
    },
  }
}

/** Submits the form of the console's page, which has the `_token` against forged requests. */
async function ask() {
  const page = await fetch(address, { redirect: 'manual' })
  if (!page.ok) return undefined
  const form = new DOMParser().parseFromString(await page.text(), 'text/html').querySelector('form[action$="-token"]')
  const body = new URLSearchParams(new FormData(form))
  const headers = { accept: 'application/json' }
  const answer = await fetch(address, { method: 'POST', body, headers, redirect: 'manual' })
  if (!answer.ok) return undefined
  const { access_token: token, expires_in: seconds } = await answer.json()
  return { token, until: performance.now() + seconds * 1000 - marginMs }
}
