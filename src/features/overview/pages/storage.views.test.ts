import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storageCard } from './storage.views.ts'

test('the size of the database has its log in it, which holds nearly all of a new one', () => {
  const text = storageCard({ data: 4096, wal: 1_800_000 }, {}).text.replaceAll(/\s*<[^>]*>\s*/g, ' ')
  assert.match(text, /Size\s+1\.8 MB/)
  assert.match(text, /Of it, log\s+1\.8 MB/)
})

test('what is not known is left out', () => {
  const text = storageCard({ data: 5_000_000 }, {}).text
  assert.match(text, /5\.0 MB/)
  assert.doesNotMatch(text, /log|disk/i)
})
