import { formatCount } from '../../../platform/command-line/progress.ts'

/** `1 product`, `1,000 products` */
export function formatProducts(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'product' : 'products'}`
}
