/** The account menu closes with Escape, and when one clicks or moves elsewhere. */
export function closeMenu() {
  const menu = document.querySelector('details.person')
  if (!menu) return
  const closeFrom = ({ target }) => {
    if (!menu.contains(target)) menu.open = false
  }
  document.addEventListener('pointerdown', closeFrom)
  document.addEventListener('focusin', closeFrom)
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !menu.open) return
    menu.open = false
    menu.querySelector('summary').focus()
  })
}
