/** What scripts add to pages that work without them. Each part looks for what it is about and does nothing elsewhere. */

writeTimes(document)
countDown()

/** Times in the reader's own zone and manner. */
export function writeTimes(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  for (const each of root.querySelectorAll('time')) {
    const date = new Date(each.dateTime)
    if (!Number.isNaN(date.getTime())) each.textContent = format.format(date)
  }
}

/** Until a lock ends. */
function countDown() {
  for (const each of document.querySelectorAll('[data-countdown]')) {
    const until = Date.parse(each.dataset.countdown)
    const show = () => {
      const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      const minutes = Math.floor(seconds / 60)
      each.textContent = `${minutes}:${String(seconds % 60).padStart(2, '0')}`
      if (seconds === 0) clearInterval(timer)
    }
    each.previousSibling.textContent = each.previousSibling.textContent.replace(/ at\s*$/, ' in ')
    const timer = setInterval(show, 1000)
    show()
  }
}
