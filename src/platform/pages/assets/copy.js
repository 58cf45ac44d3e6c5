/** The buttons of copy-actions.ts, which copy and print. Without scripts a click selects the text. */
for (const button of document.querySelectorAll('[data-print]')) {
  button.addEventListener('click', () => print())
}

for (const button of document.querySelectorAll('[data-copy]')) {
  const target = document.getElementById(button.dataset.copy)
  const status = button.parentElement.querySelector('[data-copied]')
  button.addEventListener('click', async () => {
    status.textContent = (await copy(target)) ? 'Copied.' : 'The text is selected: copy it now.'
  })
}

async function copy(target) {
  getSelection().selectAllChildren(target)
  const text = [...target.children].map((line) => line.textContent.trim()).join('\n')
  try {
    // Available only over https and on localhost.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return document.execCommand('copy')
  }
}
