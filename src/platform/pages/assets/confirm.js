/** Asks for confirmation before a form with `data-confirm` is submitted. Without scripts it is submitted directly. */
export function confirmForms() {
  document.addEventListener('submit', (event) => {
    const form = event.target
    const { confirm: question, confirmButton: yes = 'Yes' } = form.dataset
    if (question === undefined) return
    event.preventDefault()
    ask(question, yes, () => form.submit())
  })
}

function ask(question, yes, onYes) {
  const dialog = document.createElement('dialog')
  const form = document.createElement('form')
  const text = document.createElement('p')
  const row = document.createElement('div')
  text.id = 'question'
  text.textContent = question
  dialog.setAttribute('aria-labelledby', text.id)
  form.method = 'dialog'
  row.className = 'row'
  row.append(button(yes, 'yes', 'bad'), button('Cancel', '', ''))
  form.append(text, row)
  dialog.append(form)
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (dialog.returnValue === 'yes') onYes()
  })
  document.body.append(dialog)
  dialog.showModal()
  // Focus the harmless choice.
  row.lastChild.focus()
}

function button(name, value, look) {
  const made = document.createElement('button')
  made.textContent = name
  made.value = value
  made.className = look
  return made
}
