/** Print and copy buttons for recovery codes. Without scripts a click selects them all. */
for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => print())
}

for (const button of document.querySelectorAll('[data-copy]')) {
  const list = document.getElementById(button.dataset.copy)
  const status = document.querySelector('[data-copied]')
  button.hidden = false
  button.addEventListener('click', async () => {
    status.textContent = (await copy(list)) ? 'Copied.' : 'They are selected: copy them now.'
  })
}

async function copy(list) {
  getSelection().selectAllChildren(list)
  const text = [...list.children].map((item) => item.textContent.trim()).join('\n')
  try {
    // Available only over https and on localhost.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return document.execCommand('copy')
  }
}
