import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sampleRow } from '../../../../test/support/products.ts'
import { createReader } from '../../../collections/transfer/record-reader.ts'
import { defuseFormula, restoreFormula } from '../../../platform/csv/formulas.ts'
import { exportedColumns, productColumns } from './columns.ts'
import { exportText } from './product-export.ts'

const signs = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']
const character = fc.constantFrom(...signs, "'", '"', ',', ';', ' ', 'a', '1', 'é', '😀')
const cell = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(''))

const product = {
  ...sampleRow,
  id: 1,
  slug: 'lamp',
  price_cents: 1050,
  stock: 3,
  version: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}

test('no cell begins as a formula does, and every cell is read as it was', () => {
  for (const sign of signs) assert.equal(defuseFormula(`${sign}1+1`), `'${sign}1+1`)
  for (const plain of ['', 'a=1', "'", "''", "it's", "'quoted'", ' =1', '1-2']) {
    assert.deepEqual([defuseFormula(plain), restoreFormula(plain)], [plain, plain])
  }
  fc.assert(
    fc.property(cell, (text) => {
      const written = defuseFormula(text)
      assert.ok(!signs.includes(written.charAt(0)))
      assert.equal(restoreFormula(written), text)
    }),
    { numRuns: 2000 },
  )
})

/** The columns that this test sets. */
function onlyKnown(row: object): object {
  const known = ['name', 'description', 'price', 'category', 'stock', 'active']
  return Object.fromEntries(Object.entries(row).filter(([name]) => known.includes(name)))
}

test('products that were written as CSV are read as they were, with formulas defused and without', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      (cells, isExact) => {
        const products = cells.map(([name, description, category]) => ({ ...product, name, description, category }))
        const text = exportText(products, { format: 'csv', isExact })
        const reader = createReader({ format: 'csv', delimiter: ',', isExact }, productColumns)
        const header = `${exportedColumns.join(',')}\n`
        const records = [...reader.push(Buffer.from(header + text)), ...reader.end()]
        assert.deepEqual(
          records.map((record) => ('row' in record ? onlyKnown(record.row) : record)),
          cells.map(([name, description, category]) => ({
            name,
            description,
            price: '10.50',
            category,
            stock: '3',
            active: 'true',
          })),
        )
      },
    ),
    { numRuns: 1000 },
  )
})
