/** Keeps the copy by following the change log. */
import { setTimeout as sleep } from 'node:timers/promises'
import { apply, get, list, readPlace, savePlace } from './copy.ts'

let cursor = readPlace()
for (;;) {
  cursor ??= await list()
  const { status, body } = await get(`/api/v2/products/changes?after=${cursor}&limit=1000&wait=25`)
  if (status === 410) {
    // Away for longer than the log is kept.
    cursor = undefined
    continue
  }
  for (const change of body.data) apply(change)
  cursor = body.meta.cursor
  savePlace(cursor)
  // A service that is about to stop does not wait.
  if (body.data.length === 0) await sleep(1000)
}
