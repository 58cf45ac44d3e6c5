/**
 * Keeps the fields of a form that was submitted after the session had ended, in this tab, until the same user has signed in
 * again. Passwords, codes and tokens are never kept. A page that is not part of signing in drops the draft.
 */
import { tell } from './toasts.js'

const key = 'draft'

export function keepDrafts() {
  resumeDraft()
  document.addEventListener('submit', ({ target: form }) => {
    if (form.method !== 'post' || isSignIn(form)) return
    const fields = [...form.elements].filter(isTyped).map(({ name, value, type, checked }) => {
      return { name, value, ...(type === 'checkbox' && { checked }) }
    })
    sessionStorage.removeItem(key)
    if (fields.some(({ name }) => !isTag(name))) {
      keep({ person: person(), page: location.pathname + location.search, action: form.getAttribute('action'), fields })
    }
  })
}

function resumeDraft() {
  const draft = JSON.parse(sessionStorage.getItem(key) ?? 'null')
  if (!draft) return
  const forms = [...document.querySelectorAll('main form')]
  const signIn = forms.find(isSignIn)
  const again = document.querySelector('main a[data-expired]')
  if (signIn) signIn.elements.next.value = draft.page
  if (again) {
    again.href = draft.page
    again.textContent = 'Back to what you typed'
  }
  if (signIn || again) return keep({ ...draft, isRefused: true })
  sessionStorage.removeItem(key)
  const form = forms.find((each) => each.getAttribute('action') === draft.action)
  if (draft.isRefused && form && draft.person === person()) fill(form, draft.fields)
}

function fill(form, fields) {
  for (const { name, value, checked } of fields) {
    const found = [...form.elements].find(
      (each) => each.name === name && (checked === undefined || each.value === value),
    )
    if (!found) continue
    if (checked === undefined) found.value = value
    else found.checked = checked
  }
  tell('What you typed is here again. It is not saved yet.')
}

/** The ETag is kept too, so that a change that somebody else has saved since is not overwritten. */
function isTyped({ name, type, autocomplete }) {
  if (isTag(name)) return true
  return name !== '' && !['hidden', 'password', 'submit'].includes(type) && autocomplete !== 'one-time-code'
}

const isTag = (name) => name === 'tag' || name === '_tag'

function isSignIn(form) {
  return form.getAttribute('action').startsWith('/console/sign-in')
}

function keep(draft) {
  sessionStorage.setItem(key, JSON.stringify(draft))
}

function person() {
  return document.querySelector('[data-person]')?.dataset.person
}
