/** Changes theme and density in place, so that nothing typed on the page is lost. */
export function changeAppearance() {
  const form = document.querySelector('form[data-appearance]')
  form?.addEventListener('submit', async (event) => {
    const { submitter: button } = event
    if (!button?.name) return
    event.preventDefault()
    const root = document.documentElement
    const before = root.dataset[button.name]
    show(form, button.name, button.value)
    const isKept = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, button)) })
      .then(({ ok }) => ok)
      .catch(() => false)
    if (!isKept) show(form, button.name, before)
  })
}

function show(form, field, value) {
  document.documentElement.dataset[field] = value
  for (const button of form.querySelectorAll(`button[name="${field}"]`)) {
    button.setAttribute('aria-pressed', String(button.value === value))
  }
}
