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
  // A tab has buttons in it: the one with its name becomes the tab.
  for (const tab of root.querySelectorAll('.graphiql-tab')) {
    const [name] = tab.children
    tab.removeAttribute('aria-selected')
    set(tab, 'role', 'presentation')
    set(name, 'role', 'tab')
    set(name, 'aria-selected', String(tab.classList.contains('graphiql-tab-active')))
  }
}

/** Only where it is another value: the observer would not come to an end. */
function set(element, attribute, value) {
  if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value)
}
