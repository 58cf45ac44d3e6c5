/** Users in the search over the whole console. */
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
      const users = await searchUsers(text, limit)
      return users.map(({ id, email, name }) => ({ path: `/console/users/${id}`, name: email, hint: name }))
    },
  }
}
