/** Checks a requirement, in the same way for routes and for GraphQL fields. */

export type Requirement<FindEntity> =
  | 'public'
  | 'authenticated'
  | { role: string }
  | { permission: string }
  | { policy: string; action: string; entity: FindEntity }
  | KeyRequirement

/**
 * The permission that an API key with a list of permissions needs, beside what everybody needs; it need not be one of its
 * owner's. Null: none. Without this, `impliedKeyPermission` says which one it is.
 */
export interface KeyRequirement {
  keyPermission: string | null
  /** A key without it may go on: it gets what anyone gets. */
  isOptional?: true
}

/** What a check needs of a user. */
export interface Holder {
  hasRole(role: string): boolean
  can(permission: string): boolean
  /** Only of an API key with a list of permissions: whether that list allows a permission. */
  readonly key?: { allows?(permission: string): boolean }
}

export interface Policies<User extends Holder = Holder> {
  /** Throws if there is no such policy or action. */
  requireKnown(policy: string, action: string): void
  allow(asked: { policy: string; action: string; user: User | undefined; entity: unknown }): Promise<boolean>
}

export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'not_found'

export interface Question<User extends Holder, FindEntity> {
  /** All must be met. */
  requirements: readonly Requirement<FindEntity>[]
  /** Whether data is changed, rather than read. */
  isChange: boolean
  user: User | undefined
  /** Called only for policies. */
  findEntity(find: FindEntity): Promise<unknown>
  policies: Policies<User>
}

/** The entity is that of the last policy. */
export async function authorize<User extends Holder, FindEntity>(
  question: Question<User, FindEntity>,
): Promise<{ verdict: Verdict; entity?: unknown }> {
  const { requirements, user, findEntity, policies } = question
  const refused: Verdict = user ? 'forbidden' : 'unauthenticated'
  let entity: unknown
  for (const requirement of requirements) {
    if (!isPolicy(requirement)) {
      if (!isMet(requirement, user)) return { verdict: refused }
      continue
    }
    const { policy, action } = requirement
    entity = await findEntity(requirement.entity)
    if (entity === undefined || entity === null) return { verdict: 'not_found' }
    if (!(await policies.allow({ policy, action, user, entity }))) return { verdict: refused, entity }
  }
  if (user?.key?.allows && !(await isKeyEnough(question, { allows: user.key.allows, entity }))) {
    return { verdict: 'forbidden', entity }
  }
  return { verdict: 'allowed', entity }
}

/**
 * What a limited key needs unless `keyPermission` is declared: the action of the policy; nothing more where a permission is
 * required (or a role, which limited keys do not have), or to read what is public; otherwise `*`, so that a route of an
 * extension is closed to limited keys until it names a permission. To change data, the permission that a plugin requires for
 * all its routes, such as to view, replaces neither the action of the policy nor that of the route, which comes last.
 */
export function impliedKeyPermission(requirements: readonly Requirement<unknown>[], isChange: boolean): string | null {
  const isRequired = (name: string) => requirements.some((each) => typeof each === 'object' && name in each)
  if (isRequired('keyPermission')) return null
  const policy = requirements.findLast(isPolicy)
  if (policy && isChange) return `${policy.policy}.${policy.action}`
  const isNamed = (each: Requirement<unknown> | undefined) =>
    typeof each === 'object' && ('permission' in each || 'role' in each)
  if (isChange ? isNamed(requirements.at(-1)) : requirements.some(isNamed)) return null
  if (policy) return `${policy.policy}.read`
  return !isChange && requirements.every((each) => each === 'public') ? null : '*'
}

/** Neither asks for a token nor looks at one. */
export function isOpen(requirement: Requirement<unknown>): boolean {
  return (
    requirement === 'public' ||
    (typeof requirement === 'object' && 'keyPermission' in requirement && requirement.keyPermission === null)
  )
}

/** Whether a request without a token may be allowed. */
export function isTokenOptional(requirements: readonly Requirement<unknown>[]): boolean {
  return requirements.every(
    (each) => isOpen(each) || isPolicy(each) || (typeof each === 'object' && 'keyPermission' in each),
  )
}

async function isKeyEnough<User extends Holder, FindEntity>(
  { requirements, isChange, policies }: Question<User, FindEntity>,
  { allows, entity }: { allows(permission: string): boolean; entity: unknown },
): Promise<boolean> {
  const needed = impliedKeyPermission(requirements, isChange)
  if (needed === null || allows(needed)) return true
  if (isChange || !requirements.every((each) => each === 'public' || isPolicy(each))) return false
  // What anybody may read is public.
  for (const each of requirements) {
    if (!isPolicy(each)) continue
    const { policy, action } = each
    if (!(await policies.allow({ policy, action, user: undefined, entity }))) return false
  }
  return true
}

type PolicyRequirement<FindEntity> = Extract<Requirement<FindEntity>, { policy: string }>

function isPolicy<FindEntity>(requirement: Requirement<FindEntity>): requirement is PolicyRequirement<FindEntity> {
  return typeof requirement === 'object' && 'policy' in requirement
}

function isMet(requirement: Exclude<Requirement<never>, { policy: string }>, user: Holder | undefined): boolean {
  if (requirement === 'public') return true
  if (requirement === 'authenticated') return user !== undefined
  if ('keyPermission' in requirement) {
    const { keyPermission, isOptional } = requirement
    return keyPermission === null || isOptional || (user?.key?.allows?.(keyPermission) ?? true)
  }
  return (
    user !== undefined && ('role' in requirement ? user.hasRole(requirement.role) : user.can(requirement.permission))
  )
}
