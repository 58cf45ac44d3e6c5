/** Pages of sorted lists begin where the cursor is, however many rows have the same value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOrders } from '../../src/features/admin/audit-orders.ts'
import { writeListCursor, writeSort } from '../../src/platform/listing/list-cursor.ts'
import { readListQuery } from '../../src/platform/listing/list-query.ts'
import { createSortedList } from '../../src/platform/listing/sorted-list.store.ts'
import { shareService } from '../support/api.ts'
import { onEachEngine } from '../support/databases.ts'
import { plansOf, recordStatements } from '../support/query-plans.ts'
import { startApiWithRoles } from '../support/roles.ts'

const at = '2026-01-01T00:00:00.000Z'
const lists = [
  { path: '/api/v2/products', field: 'name', value: 'lamp', column: 'name_key' },
  { path: '/api/v2/products', field: 'price', value: 1999, column: 'price_cents' },
  { path: '/api/v2/products', field: 'stock', value: 3, column: 'stock' },
  { path: '/api/v2/products', field: 'updated_at', value: at, column: 'updated_at' },
  { path: '/api/admin/audit', field: 'at', value: at, column: 'at' },
  { path: '/api/admin/audit', field: 'at', value: at, column: 'at', filter: 'filter[event]=login' },
  { path: '/api/admin/users', field: 'name', value: '', column: 'name_key' },
  { path: '/api/admin/users', field: 'email', value: 'ada@example.com', column: 'email' },
] as const

onEachEngine('the plans of sorted lists', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('a page by cursor is looked up by its sort value and id in an index', async () => {
    const api = await shared()
    const { access } = await api.signInAs('admin')
    const statements = recordStatements(api.db, { withScans: true })
    for (const { path, field, value, column, ...more } of lists) {
      for (const isDescending of [false, true]) {
        const sort = { field, isDescending }
        const cursor = writeListCursor(sort, { value, id: 1_000_000, isBefore: false })
        const before = new Set(statements())
        const filter = 'filter' in more ? more.filter : ''
        const { status } = await api.get(`${path}?sort=${writeSort(sort)}&cursor=${cursor}&${filter}`, access)
        assert.equal(status, 200)
        const walks = statements().filter((each) => !before.has(each) && /WITH walked/.test(each.sql))
        assert.ok(walks.length > 0, `${path} by ${field}`)
        for (const plan of await plansOf(api, walks)) assertLookedUp(plan, column, isDescending ? '<' : '>')
      }
    }
  })

  test('rows whose names contain a term are looked up in the index of names', async () => {
    const api = await shared()
    const statements = recordStatements(api.db, { withScans: true })
    for (const q of ['lamp', 'la']) {
      const { status } = await api.get(`/api/v2/products?q=${q}&sort=-price&filter[active]=false&count=exact`)
      assert.equal(status, 200)
    }
    const searches = statements().filter(({ sql }) => /\bfound\b/.test(sql) && /gram/.test(sql))
    assert.ok(searches.length >= 3, 'the candidates are counted, read and counted with the filters')
    for (const plan of await plansOf(api, searches)) {
      const text = plan.join('\n')
      if (engine === 'sqlite') {
        assert.match(text, /SEARCH products USING INTEGER PRIMARY KEY/)
        assert.doesNotMatch(text, /SCAN products\b|USING INDEX products/)
      } else {
        assert.match(text, /Bitmap Index Scan on products_name_grams/)
      }
    }
  })

  test('a file of all rows leaves time for other requests between its parts', async () => {
    const api = await shared()
    await api.signInAs('admin')
    const list = createSortedList({ db: api.db, definition: auditOrders, columns: 'id', countAll: async () => 0 })
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    let parts = 0
    for await (const rows of list.batches({ ...readListQuery({}, auditOrders), limit: 1 })) {
      assert.equal(rows.length, 1)
      if (++parts === 2) break
    }
    assert.deepEqual([parts, hasTurned], [2, true])
  })

  function assertLookedUp(plan: readonly string[], column: string, sign: string): void {
    const text = plan.join('\n')
    // The index of emails is unique, so the id adds nothing.
    const id = column === 'email' ? '' : ` AND (id|rowid)${sign}\\?`
    const expected =
      engine === 'sqlite'
        ? new RegExp(`SEARCH .*\\(.*${column}=\\?${id}\\)`)
        : new RegExp(`Index Cond: .*ROW\\(\\(?${column}.*\\) ${sign} ROW\\(`)
    assert.match(text, expected)
    // Nor is a list sorted to find its first rows.
    assert.doesNotMatch(text, /USE TEMP B-TREE FOR ORDER BY[\s\S]*SEARCH/)
  }
})
