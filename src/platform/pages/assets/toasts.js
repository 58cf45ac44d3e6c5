/** Notices can be closed, and go by themselves once they have been read. One with something to press stays. */
const readMs = 12_000

export function closeNotices() {
  for (const notice of document.querySelectorAll('main > .notice:not(.news)')) addClose(notice)
}

/** Shows a text as the notice of the page. */
export function tell(text) {
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.setAttribute('role', 'status')
  document.getElementById('content').append(notice)
  // Screen readers announce changes of a live region only after it exists.
  requestAnimationFrame(() => {
    notice.textContent = text
    addClose(notice)
  })
}

function addClose(notice) {
  const stays = notice.querySelector('a, button') !== null
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'close'
  button.setAttribute('aria-label', 'Dismiss')
  button.innerHTML = '<svg class="icon" aria-hidden="true"><use href="/console/assets/icons.svg#close"></use></svg>'
  button.addEventListener('click', () => notice.remove())
  notice.append(button)
  if (stays) return
  const leave = () => (notice.matches(':hover, :focus-within') ? setTimeout(leave, readMs) : notice.remove())
  setTimeout(leave, readMs)
}
