/**
 * For commands that stream. By default V8 lets the garbage of an import grow to 80 MB; with these flags it takes 30 MB at
 * the same speed (measured with 100,000 rows).
 */
import { setFlagsFromString } from 'node:v8'

export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}
