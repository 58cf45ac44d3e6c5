/** Formats times in the reader's time zone and locale. */
export function writeTimes(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  for (const each of root.querySelectorAll('time')) {
    const date = new Date(each.dateTime)
    if (!Number.isNaN(date.getTime())) each.textContent = format.format(date)
  }
}
