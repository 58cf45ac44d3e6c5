/**
 * Creates and uses passkeys. Forms with `data-passkey-host` are shown only if the browser supports passkeys. The form
 * itself submits the result, with its `_token`.
 */
const hasPasskeys =
  typeof PublicKeyCredential === 'function' &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
  typeof PublicKeyCredential.prototype.toJSON === 'function'

/** A challenge lasts five minutes. */
const renewMs = 4 * 60_000

const problems = {
  NotAllowedError: 'That was cancelled, or took too long. Try again.',
  InvalidStateError: 'This device has a passkey for your account already.',
  other: 'That did not work. Try again, or use your password.',
}

for (const form of document.querySelectorAll('[data-passkey-host]')) {
  // Browsers refuse passkeys of another host.
  if (!hasPasskeys || location.hostname !== form.dataset.passkeyHost) continue
  for (const note of document.querySelectorAll('[data-passkey-missing]')) note.hidden = true
  form.hidden = false
  form.querySelector('[autofocus]')?.focus()
  if (form.dataset.passkeyCreate !== undefined) offerCreation(form)
  if (form.dataset.passkeyGet !== undefined) offerSignIn(form)
}

function offerCreation(form) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(form.dataset.passkeyCreate))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    run(form, () => navigator.credentials.create({ publicKey }))
  })
}

function offerSignIn(form) {
  /** Aborts the pending request of the email field, because browsers handle one at a time. */
  let waiting = new AbortController()

  async function ask(more) {
    const response = await fetch(form.dataset.passkeyGet, { method: 'POST' })
    if (!response.ok) throw new Error(`status ${response.status}`)
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await response.json())
    return navigator.credentials.get({ publicKey, ...more })
  }

  /** The browser offers passkeys in the email field, and shows nothing if there are none. */
  async function offerInField() {
    waiting = new AbortController()
    const { signal } = waiting
    const renewal = setTimeout(() => waiting.abort('renew'), renewMs)
    try {
      send(form, await ask({ signal, mediation: 'conditional' }))
    } catch {
      // The user has not asked for anything yet, so no error is shown.
      if (signal.reason === 'renew') offerInField()
    } finally {
      clearTimeout(renewal)
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    waiting.abort('button')
    run(form, () => ask({}))
  })
  PublicKeyCredential.isConditionalMediationAvailable?.().then((isAvailable) => {
    if (isAvailable) offerInField()
  })
}

async function run(form, ceremony) {
  const button = form.querySelector('button')
  const problem = form.querySelector('[data-passkey-problem]')
  problem.hidden = true
  button.disabled = true
  try {
    send(form, await ceremony())
  } catch (error) {
    problem.textContent = problems[error.name] ?? problems.other
    problem.hidden = false
  } finally {
    button.disabled = false
  }
}

function send(form, credential) {
  form.elements.response.value = JSON.stringify(credential.toJSON())
  form.submit()
}
