/** Progressive enhancement: every page works without scripts. Each module does nothing on pages without its elements. */

import { changeAppearance } from './appearance.js'
import { restoreBackLinks } from './back.js'
import { confirmForms } from './confirm.js'
import { keepDrafts } from './drafts.js'
import { followProducts } from './live.js'
import { closeMenu } from './menu.js'
import { showNetwork } from './network.js'
import { openPaletteOnDemand } from './palette.js'
import { searchAsYouType } from './search.js'
import { listenForShortcuts } from './shortcuts.js'
import { writeTimes } from './times.js'
import { closeNotices } from './toasts.js'

replaceAddress()
writeTimes(document)
countDown()
keepDrafts()
restoreBackLinks()
confirmForms()
searchAsYouType()
followProducts()
changeAppearance()
closeMenu()
closeNotices()
showNetwork()
openPaletteOnDemand()
listenForShortcuts()

/** Replaces the URL of a page that was sent in response to a POST, so that going back or reloading posts nothing twice. */
function replaceAddress() {
  const { address } = document.getElementById('content').dataset
  if (address !== undefined) history.replaceState(null, '', address)
}

/** Shows the time left until a lock ends. */
function countDown() {
  for (const each of document.querySelectorAll('[data-countdown]')) {
    const until = Date.parse(each.dataset.countdown)
    const show = () => {
      const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      const minutes = Math.floor(seconds / 60)
      each.textContent = `${minutes}:${String(seconds % 60).padStart(2, '0')}`
      if (seconds > 0) return
      clearInterval(timer)
      each.replaceWith('now')
      before.textContent = replaceEnd(before.textContent, ' in ', ' ')
    }
    const before = each.previousSibling
    before.textContent = replaceEnd(before.textContent.trimEnd(), ' at', ' in ')
    const timer = setInterval(show, 1000)
    show()
  }
}

function replaceEnd(text, end, other) {
  return text.endsWith(end) ? text.slice(0, -end.length) + other : text
}
