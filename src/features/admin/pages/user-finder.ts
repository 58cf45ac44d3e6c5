/** Users in the search over the whole console. */
import { listAddress } from '../../../platform/pages/components/list-links.ts'
import type { Finder } from '../../../platform/pages/frame/search.ts'
import { permissions } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'

const limit = 5

export function createUserFinder({ searchUsers }: Pick<AdminService, 'searchUsers'>): Finder {
  return {
    heading: 'Users',
    icon: 'users',
    may: (principal) => principal.can(permissions.viewUsers),
    async find(text) {
      const { users, isWhole } = await searchUsers(text, limit)
      const found = users.map(({ id, email, name }) => ({ path: `/console/users/${id}`, name: email, hint: name }))
      const all = { path: listAddress('/console/users', { q: text }), name: `All users with “${text}”` }
      return isWhole ? found : [...found, all]
    },
  }
}
