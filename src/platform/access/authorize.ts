/** Checks a requirement, in the same way for routes and for GraphQL fields. */

export type Requirement<FindEntity> =
  | 'public'
  | 'authenticated'
  | { role: string }
  | { permission: string }
  | { policy: string; action: string; entity: FindEntity }

/** What a check needs of a user. */
export interface Holder {
  hasRole(role: string): boolean
  can(permission: string): boolean
}

export interface Policies<User extends Holder = Holder> {
  /** Throws if there is no such policy or action. */
  requireKnown(policy: string, action: string): void
  allow(asked: { policy: string; action: string; user: User | undefined; entity: unknown }): Promise<boolean>
}

export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'not_found'

export interface Question<User extends Holder, FindEntity> {
  requirement: Requirement<FindEntity>
  user: User | undefined
  /** Called only for policies. */
  findEntity(find: FindEntity): Promise<unknown>
  policies: Policies<User>
}

export async function authorize<User extends Holder, FindEntity>(
  question: Question<User, FindEntity>,
): Promise<{ verdict: Verdict; entity?: unknown }> {
  const { requirement, user, findEntity, policies } = question
  if (requirement === 'public') return { verdict: 'allowed' }
  const refused: Verdict = user ? 'forbidden' : 'unauthenticated'
  if (typeof requirement === 'object' && 'policy' in requirement) {
    const { policy, action } = requirement
    const entity = await findEntity(requirement.entity)
    if (entity === undefined || entity === null) return { verdict: 'not_found' }
    return { verdict: (await policies.allow({ policy, action, user, entity })) ? 'allowed' : refused, entity }
  }
  return { verdict: user && isHeldBy(user, requirement) ? 'allowed' : refused }
}

function isHeldBy(user: Holder, requirement: 'authenticated' | { role: string } | { permission: string }): boolean {
  if (requirement === 'authenticated') return true
  return 'role' in requirement ? user.hasRole(requirement.role) : user.can(requirement.permission)
}
