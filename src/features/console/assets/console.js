/** What scripts add to pages that work without them. Each part looks for what it is about and does nothing elsewhere. */

import { confirmForms } from './confirm.js'
import { followProducts } from './live.js'
import { searchAsYouType } from './search.js'
import { writeTimes } from './times.js'

writeTimes(document)
countDown()
confirmForms()
searchAsYouType()
followProducts()

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
