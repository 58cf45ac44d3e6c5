/** Changes theme and density in place, so that nothing typed on the page is lost. */
export function changeAppearance() {
  const form = document.querySelector('form[data-appearance]')
  let kept = shown()
  let sending = new AbortController()
  form?.addEventListener('submit', async (event) => {
    const { submitter: button } = event
    if (!button?.name) return
    event.preventDefault()
    const chosen = { ...shown(), [button.name]: button.value }
    show(form, chosen)
    // One cookie has both choices, so each request does too, and the last one decides. Leaving the page does not end it.
    sending.abort()
    sending = new AbortController()
    const { signal } = sending
    const body = new URLSearchParams({ ...Object.fromEntries(new FormData(form)), ...chosen })
    const isKept = await fetch(form.action, { method: 'POST', body, keepalive: true, signal })
      .then(({ ok }) => ok)
      .catch(() => false)
    if (signal.aborted) return
    if (isKept) kept = chosen
    else show(form, kept)
  })
}

function shown() {
  const { theme, density } = document.documentElement.dataset
  return { theme, density }
}

function show(form, choices) {
  for (const [field, value] of Object.entries(choices)) {
    document.documentElement.dataset[field] = value
    for (const button of form.querySelectorAll(`button[name="${field}"]`)) {
      button.setAttribute('aria-pressed', String(button.value === value))
    }
  }
}
