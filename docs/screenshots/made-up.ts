/** The users, products and devices shown in the screenshots. */
import { sampleRow } from '../../test/support/products.ts'

export const people = [
  { email: 'ada@example.com', name: 'Ada Lovelace', roles: ['admin'] },
  { email: 'grace@example.com', name: 'Grace Hopper', roles: ['editor'] },
  { email: 'katherine@example.com', name: 'Katherine Johnson', roles: ['viewer'] },
  { email: 'alan@example.com', name: 'Alan Turing', roles: [] },
]

/** Sign-ins and failures of the days before the first one, the oldest first. */
export const signInDays = Array.from({ length: 29 }, (_, i) => ({
  daysAgo: 29 - i,
  signIns: 20 + ((i * 13) % 17) + (i % 7 < 5 ? 12 : 0),
  failures: (i * 5) % 6,
}))

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

/** Addresses are from the ranges reserved for documentation. */
export const devices = [
  { userAgent: 'Mozilla/5.0 (Windows NT 10.0; rv:142.0) Gecko/20100101 Firefox/142.0', address: '203.0.113.40' },
  {
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/140.0 Mobile Safari/537.36`,
    address: '198.51.100.24',
  },
  { userAgent: `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`, address: '192.0.2.81' },
]

const kinds: readonly [category: string, dollars: number, names: readonly string[]][] = [
  ['kitchen', 24, ['Copper Kettle', 'Bread Knife', 'Oak Chopping Board', 'Salt Cellar', 'Enamel Mug', 'Tea Strainer']],
  ['garden', 39, ['Watering Can', 'Garden Lamp', 'Pruning Shears', 'Terracotta Pot', 'Folding Chair', 'Bird Feeder']],
  ['office', 12, ['Fountain Pen', 'Ruled Notebook', 'Letter Opener', 'Wire Basket', 'Clip Lamp', 'Filing Box']],
  ['home', 58, ['Wool Blanket', 'Floor Lamp', 'Umbrella Stand', 'Wall Clock', 'Linen Cushion', 'Brass Desk Lamp']],
]

export const products = kinds.flatMap(([category, dollars, names], kind) =>
  names.map((name, i) => ({
    ...sampleRow,
    name,
    description: `${name}, made to last.`,
    price_cents: dollars * 100 + ((kind * 7 + i * 13) % 40) * 150 + 50 * (i % 2),
    category,
    stock: (i * 5 + kind * 3) % 7 === 3 ? 0 : ((i * 11 + kind * 17) % 60) + 1,
    active: (i + kind * 2) % 9 !== 4,
  })),
)
