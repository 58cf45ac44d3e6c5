/** Numbers as people read them. */
import { once } from '../../../core/once.ts'

// The first formatter of a process takes 20 ms.
const number = once(() => new Intl.NumberFormat('en'))
const short = once(() => new Intl.NumberFormat('en', { maximumSignificantDigits: 2 }))

/** `1,234,567` */
export function formatNumber(value: number): string {
  return number().format(value)
}

/** `850 bytes`, `12 kB`, `3.4 MB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1000 ** power
  return `${amount.toFixed(amount < 10 ? 1 : 0)} ${['kB', 'MB', 'GB', 'TB'][power - 1]}`
}

/** `0.4 ms`, `12 ms`, `3.4 s` */
export function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`
  return `${ms >= 10 ? Math.round(ms) : short().format(ms)} ms`
}

const units: readonly [name: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** `3 hours`, rounded down. */
export function formatAge(seconds: number): string {
  const [name, size] = units.find(([, each]) => seconds >= each) ?? ['second', 1]
  const count = Math.floor(seconds / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
