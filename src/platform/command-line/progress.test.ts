import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClock } from '../../core/clock.ts'
import { createProgress, formatCount, formatDuration, type ProgressOptions } from './progress.ts'

function watch(display: ProgressOptions['display'], columns = 80) {
  let now = 1_000_000
  const written: string[] = []
  const stream = { write: (text: string) => void written.push(text), columns }
  const progress = createProgress({ clock: createClock(() => now), stream, display })
  return {
    progress,
    wait: (ms: number) => {
      now += ms
    },
    take: () => written.splice(0).join(''),
  }
}

test('on a terminal one line is redrawn, ten times a second at most', () => {
  const { progress, wait, take } = watch('terminal')
  progress.update({ total: 1000 })
  take()
  wait(2000)
  progress.update({ done: 250, rows: 5000, skipped: 2 })
  assert.equal(take(), '\r\u001b[2K[######------------------] 25%, 5,000 rows, 2,500 rows/s, 6.0 s left, 2 skipped')
  wait(99)
  progress.update({ done: 260 })
  assert.equal(take(), '')
  progress.note('line 7: wrong')
  assert.equal(take(), '\r\u001b[2Kline 7: wrong\n', 'a note takes the place of the line')
  wait(1)
  progress.update({ done: 1000 })
  assert.match(take(), /^\[#{24}\] 100%, 5,000 rows/)
  progress.end()
  assert.equal(take(), '\r\u001b[2K')
  progress.end()
  assert.equal(take(), '')
})

test('it never wraps in a narrow terminal', () => {
  const { progress, wait, take } = watch('terminal', 30)
  wait(1000)
  progress.update({ total: 1000, done: 250, rows: 5000 })
  assert.equal(take().length, 29)
})

test('elsewhere there is a plain line every five seconds', () => {
  const { progress, wait, take } = watch('lines')
  progress.update({ rows: 1 })
  wait(4999)
  progress.update({ rows: 2 })
  assert.equal(take(), '')
  wait(1)
  progress.update({ rows: 1000 })
  assert.equal(take(), '1,000 rows, 200 rows/s\n')
})

test('quiet shows notes alone', () => {
  const { progress, wait, take } = watch('none')
  wait(60_000)
  progress.update({ rows: 1000 })
  assert.equal(take(), '')
  progress.note('line 7: wrong')
  assert.equal(take(), 'line 7: wrong\n')
})

test('counts and durations are written for people', () => {
  assert.deepEqual([0, 999, 1000, 1_234_567].map(formatCount), ['0', '999', '1,000', '1,234,567'])
  assert.deepEqual([0, 3210, 59_400, 125_000, 3_720_000].map(formatDuration), [
    '0.0 s',
    '3.2 s',
    '59.4 s',
    '2 min 05 s',
    '1 h 02 min',
  ])
})
