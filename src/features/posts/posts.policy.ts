import type { Principal } from '../../platform/access/route-guards.ts'

type User = Principal | undefined

/** The reference policy: everyone may view, admins and editors may update, admins may delete. */
export const postPolicy = {
  view: () => true,
  update: (user: User) => user?.hasRole('admin') === true || user?.hasRole('editor') === true,
  delete: (user: User) => user?.hasRole('admin') === true,
}
