/** The page of the import: a file can be dropped anywhere on it, and an import shows how far it is. */
const everyMs = 500

for (const form of document.querySelectorAll('[data-import]')) {
  const field = form.querySelector('[type="file"]')
  if (field) acceptDrops(field)
  form.addEventListener('submit', (event) => {
    const { import: id, rows } = form.dataset
    if (event.submitter?.value === 'import' && id) follow(form, { id, rows: Number(rows) })
  })
}

function acceptDrops(field) {
  document.addEventListener('dragover', (event) => event.preventDefault())
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    if (event.dataTransfer.files.length === 0) return
    field.files = event.dataTransfer.files
    field.focus()
  })
}

/** The answer comes when all is done; this page stays until then. */
function follow(form, { id, rows }) {
  const bar = Object.assign(document.createElement('progress'), { max: rows, value: 0, ariaLabel: 'Imported' })
  form.append(bar)
  setInterval(async () => {
    const response = await fetch(`${form.getAttribute('action')}/${id}`)
    if (response.ok) bar.value = (await response.json()).records
  }, everyMs)
}
