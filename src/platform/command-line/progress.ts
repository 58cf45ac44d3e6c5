/** Progress of a long command: one redrawn line on a terminal, a line every few seconds elsewhere. */
import type { Clock } from '../../core/clock.ts'

export interface ProgressState {
  /** In the unit of `total`: bytes or rows. */
  done: number
  /** Undefined if unknown. */
  total: number | undefined
  rows: number
  skipped: number
}

export interface ProgressOptions {
  clock: Clock
  stream: { write(text: string): unknown; columns?: number }
  display: 'terminal' | 'lines' | 'none'
}

export interface Progress {
  update(change: Partial<ProgressState>): void
  /** Prints a line above the progress line. */
  note(line: string): void
  /** Clears the progress line. */
  end(): void
}

const redrawMs = 100
const lineMs = 5000
const barWidth = 24

export function createProgress({ clock, stream, display }: ProgressOptions): Progress {
  const state: ProgressState = { done: 0, total: undefined, rows: 0, skipped: 0 }
  const everyMs = display === 'terminal' ? redrawMs : lineMs
  const start = clock.now()
  let last = display === 'terminal' ? 0 : start
  let isShown = false

  function clear(): void {
    if (isShown) stream.write('\r\u001b[2K')
    isShown = false
  }

  return {
    update(change) {
      Object.assign(state, change)
      if (display === 'none') return
      const now = clock.now()
      if (now - last < everyMs) return
      last = now
      const text = describe(state, now - start)
      if (display === 'lines') {
        stream.write(`${text}\n`)
        return
      }
      clear()
      // A line that wraps could not be cleared.
      stream.write([...bar(state), ...text].slice(0, (stream.columns ?? 80) - 1).join(''))
      isShown = true
    },
    note(line) {
      clear()
      stream.write(`${line}\n`)
    },
    end: clear,
  }
}

function bar({ done, total }: ProgressState): string {
  if (!total) return ''
  const filled = Math.floor((barWidth * Math.min(done, total)) / total)
  return `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] `
}

function describe({ done, total, rows, skipped }: ProgressState, ms: number): string {
  const parts = [`${formatCount(rows)} rows`]
  if (total) parts.unshift(`${Math.floor((100 * Math.min(done, total)) / total)}%`)
  if (ms > 0) parts.push(`${formatCount(Math.round((rows * 1000) / ms))} rows/s`)
  if (total && done > 0 && done < total) parts.push(`${formatDuration((ms * (total - done)) / done)} left`)
  if (skipped > 0) parts.push(`${formatCount(skipped)} skipped`)
  return parts.join(', ')
}

/** `1,234,567` */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `3.2 s`, `2 min 05 s`, `1 h 02 min` */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${(ms / 1000).toFixed(1)} s`
  const [minutes, two] = [Math.floor(seconds / 60), (part: number) => String(part).padStart(2, '0')]
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`
}

export function displayOn(
  stream: { isTTY?: boolean },
  { quiet }: { quiet?: boolean | undefined },
): ProgressOptions['display'] {
  if (quiet) return 'none'
  return stream.isTTY ? 'terminal' : 'lines'
}
