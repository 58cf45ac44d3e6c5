/** The dot beside the heading: whether the list is live. Absent without scripts. */
const states = {
  live: { text: 'Live', title: 'Changes appear as they are made.' },
  reconnecting: { text: 'Reconnecting…', title: 'The connection was lost. What was missed is shown when it is back.' },
  off: { text: 'Not live', title: 'There is no connection, so changes do not appear.' },
}
/** A connection that is back this soon was hardly missed. */
const graceMs = 1500

let timer

export function showState(state) {
  clearTimeout(timer)
  if (state === 'reconnecting') timer = setTimeout(write, graceMs, state)
  else write(state)
}

function write(state) {
  const place = document.getElementById('live')
  if (place.dataset.state === state) return
  const { text, title } = states[state]
  place.dataset.state = state
  place.firstElementChild.textContent = text
  place.title = title
  place.hidden = false
  // Only from now on: that a page has just become live need not be said.
  setTimeout(() => place.setAttribute('role', 'status'), 0)
}
