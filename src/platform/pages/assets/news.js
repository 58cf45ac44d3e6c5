/** The line that tells what has changed, while the list itself does not move. */
export function createNews() {
  const place = document.getElementById('news')
  let created = new Set()
  let deleted = 0
  let isOther = false

  function add({ id, type }) {
    if (type === 'product.created') created.add(id)
    if (type === 'product.deleted') created.delete(id)
    if (type === 'product.restored') isOther = true
  }

  function say(text, { address, name }) {
    const link = document.createElement('a')
    link.href = address
    link.textContent = name
    place.replaceChildren(`${text} `, link)
    place.hidden = false
  }

  return {
    add,
    /** Rows that are deleted now, and whether the list would have others. */
    count(found) {
      deleted += found.deleted
      isOther ||= found.isOther
    },
    show() {
      const texts = [
        created.size > 0 && (created.size === 1 ? '1 new product.' : `${created.size} new products.`),
        deleted > 0 &&
          (deleted === 1 ? '1 product of this list is deleted.' : `${deleted} products of this list are deleted.`),
        isOther && 'The list has changed.',
      ].filter(Boolean)
      if (texts.length === 0) return
      const isChanged = deleted > 0 || isOther
      const same = { address: location.pathname + location.search, name: 'Show it as it is now' }
      say(texts.join(' '), isChanged ? same : { address: '/console/products', name: 'Show the newest' })
    },
    say,
    isShown: () => !place.hidden,
    /** The list is loaded again, up to these changes. */
    clear(changes) {
      created = new Set()
      deleted = 0
      isOther = false
      place.hidden = true
      for (const change of changes) add(change)
    },
  }
}
