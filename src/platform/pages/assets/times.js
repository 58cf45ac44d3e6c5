/** Times in the reader's own zone and manner. */
export function writeTimes(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  for (const each of root.querySelectorAll('time')) {
    const date = new Date(each.dateTime)
    if (!Number.isNaN(date.getTime())) each.textContent = format.format(date)
  }
}
