import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lowerByCodePoint } from '../../src/core/text.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type Owner, shareOnEngines } from '../support/api.ts'
import { onAnyEngine, onEachEngine } from '../support/databases.ts'
import { type MadeUser, makeUsers } from '../support/listed-users.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { chosen } from '../support/tiers.ts'

const path = '/api/admin/users'

const keys: Readonly<Record<string, (user: MadeUser) => string | number>> = {
  created_at: ({ id }) => id,
  email: ({ email }) => email,
  name: ({ name }) => lowerByCodePoint(name),
}

const filters: readonly [query: string, passes: (user: MadeUser) => boolean][] = [
  ['', () => true],
  ['filter[status]=active', ({ isDisabled }) => !isDisabled],
  ['filter[status]=disabled', ({ isDisabled }) => isDisabled],
  ['filter[status]=locked', ({ isLocked }) => isLocked],
  ['filter[status]=invited', ({ isInvited }) => isInvited],
  ['filter[role]=viewer', ({ roles }) => roles.includes('viewer')],
  ['filter[role]=view', () => false],
  ['filter[two_factor]=true', ({ hasTwoFactor }) => hasTwoFactor],
  ['filter[two_factor]=false', ({ hasTwoFactor }) => !hasTwoFactor],
  ['filter[role]=editor&filter[status]=disabled', ({ roles, isDisabled }) => roles.includes('editor') && isDisabled],
  [
    'filter[two_factor]=false&filter[status]=active&filter[role]=viewer',
    ({ hasTwoFactor, isDisabled, roles }) => !hasTwoFactor && !isDisabled && roles.includes('viewer'),
  ],
]

async function start(owner: Owner, engine: Dialect) {
  const api = await startApiWithRoles(owner, { engine })
  const admin = await api.signInAs('admin')
  const made = await makeUsers(api, 90)
  const self: MadeUser = {
    ...{ id: admin.id, email: admin.email, name: 'Ada', roles: ['admin'] },
    ...{ isDisabled: false, isLocked: false, isInvited: false, hasTwoFactor: false },
  }
  return { api, access: admin.access, users: [self, ...made] }
}

const shared = shareOnEngines(start)

onEachEngine('users in any order', (engine) => {
  const service = shared(engine)

  for (const [field, key] of Object.entries(keys)) {
    test(`by ${field}, with all filters, page by page to the end and back`, async () => {
      const { api, access, users } = await service()
      for (const [i, [query, passes]] of filters.entries()) {
        for (const sign of chosen(['', '-'], (each) => (each === '') === (i % 2 === 0))) {
          const asked = `${path}?sort=${sign}${field}&${query}&per_page=25`
          const sorted = users.filter(passes).toSorted((a, b) => {
            const [x, y] = [key(a), key(b)]
            return x < y ? -1 : x > y ? 1 : a.id - b.id
          })
          const expected = (sign === '' ? sorted : sorted.reverse()).map(({ id }) => id)
          const found: number[] = []
          let last: { meta: { prev: string | null }; data: { id: number }[] } | undefined
          for (let cursor: string | null = ''; cursor !== null; ) {
            const { status, body } = await api.get(`${asked}${cursor === '' ? '' : `&cursor=${cursor}`}`, access)
            assert.equal(status, 200, JSON.stringify(body))
            assert.equal(body.meta.total, expected.length, asked)
            found.push(...body.data.map(({ id }: { id: number }) => id))
            cursor = body.meta.next
            last = body
          }
          assert.deepEqual(found, expected, asked)
          if (!last?.meta.prev) continue
          const back = await api.get(`${asked}&cursor=${last.meta.prev}`, access)
          const end = expected.length - last.data.length
          assert.deepEqual(
            back.body.data.map(({ id }: { id: number }) => id),
            expected.slice(end - 25, end),
            asked,
          )
        }
      }
    })
  }
})

onAnyEngine('users in any order', (engine) => {
  const service = shared(engine)

  test('refuses what it does not understand, and says why', async () => {
    const { api, access } = await service()
    for (const [query, field, message] of [
      ['sort=roles', 'sort', 'Must be one of created_at, email, name, with - in front for descending'],
      ['filter[status]=asleep', 'filter[status]', 'Must be one of active, disabled, locked, invited'],
      ['filter[email]=x', 'filter[email]', 'Unknown filter; there are status, role, two_factor'],
      ['filter[two_factor]=on', 'filter[two_factor]', 'Must be true or false'],
      ['filter[role]=viewer&q=ada', 'q', 'Cannot be combined with sort, filter or cursor'],
    ] as const) {
      const { status, body } = await api.get(`${path}?${query}`, access)
      assert.equal(status, 422, query)
      assert.deepEqual(body.details, { [field]: [message] }, query)
    }
    const user = await api.signInAs('viewer')
    assert.equal((await api.get(`${path}?sort=email`, user.access)).status, 403)
  })
})
