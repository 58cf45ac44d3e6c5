/** What the list says after many products were changed. */

/** As many as a page of the list has. */
export const maxPicks = 100

/** Notices have fixed texts, so there is one for each number. */
export const bulkNotices: Readonly<Record<string, string>> = {
  'products-none-picked': 'No product was selected, so nothing was changed.',
  ...countedNotices('changed', 'changed'),
  ...countedNotices('restored', 'back'),
}

function countedNotices(name: string, word: string): Record<string, string> {
  const counts = Array.from({ length: maxPicks + 1 }, (_, count) => count)
  return Object.fromEntries(counts.map((count) => [`products-${name}-${count}`, `${countOf(count)} ${word}.`]))
}

function countOf(count: number): string {
  return count === 1 ? '1 product is' : `${count} products are`
}
