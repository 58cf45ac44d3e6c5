/** Attributes that GraphiQL lacks for keyboards and screen readers, set whenever it has rendered. */
export function mendAlways(root) {
  const options = { childList: true, subtree: true, attributes: true, attributeFilter: ['aria-selected', 'class'] }
  new MutationObserver(() => mend(root)).observe(root, options)
}

function mend(root) {
  for (const area of root.querySelectorAll('.CodeMirror textarea:not([aria-label])')) {
    set(area, 'aria-label', area.closest('section')?.getAttribute('aria-label') ?? 'Editor')
  }
  // What scrolls can be reached by keyboard.
  for (const scroller of root.querySelectorAll('.CodeMirror-scroll')) set(scroller, 'tabindex', '0')
  // A tab must not have other buttons beside it, such as the one that closes it: this is a list of buttons.
  for (const list of root.querySelectorAll('.graphiql-tabs')) list.removeAttribute('role')
  for (const tab of root.querySelectorAll('.graphiql-tab')) {
    const [name, close] = tab.children
    for (const element of [tab, name]) {
      element.removeAttribute('role')
      element.removeAttribute('aria-selected')
    }
    set(name, 'aria-current', String(tab.classList.contains('graphiql-tab-active')))
    if (close) set(close, 'aria-label', `Close tab ${name.textContent}`)
  }
  for (const panel of root.querySelectorAll('[role="tabpanel"]')) set(panel, 'role', 'group')
}

/** Only where it is another value: the observer would not come to an end. */
function set(element, attribute, value) {
  if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value)
}
