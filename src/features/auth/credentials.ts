/** What lets somebody in besides the password. Features that store such a thing register here. */
import type { AuditChanges } from '../../platform/audit/audit.ts'
import type { Statement } from '../../platform/database/database.ts'

export interface CredentialKind {
  /** As the audit trail names it. */
  name: 'passkeys' | 'api_keys' | 'pending_two_factor' | 'devices'
  /** Undefined if removals are not worth an entry in the audit trail. */
  count?(userId: number): Promise<number>
  /** Statements for a batch. */
  removeAll(userId: number): Statement[]
}

export interface CredentialRemoval {
  statements: Statement[]
  /** For the audit entry: the number of each kind. No field if there is nothing to remove. */
  audited: { changes?: AuditChanges }
}

export const noRemoval: CredentialRemoval = { statements: [], audited: {} }

export function createCredentials() {
  const kinds: CredentialKind[] = []
  const passkeys = () => kinds.filter(({ name }) => name === 'passkeys')

  async function prepareRemoval(userId: number, removed: readonly CredentialKind[]): Promise<CredentialRemoval> {
    const counts = await Promise.all(removed.map(async ({ name, count }) => [name, await count?.(userId)] as const))
    const changes = counts.flatMap(([name, from]) => (from ? [[name, { from, to: 0 }] as const] : []))
    return {
      statements: removed.flatMap(({ removeAll }) => removeAll(userId)),
      audited: changes.length > 0 ? { changes: Object.fromEntries(changes) } : {},
    }
  }

  return {
    provide(kind: CredentialKind): void {
      kinds.push(kind)
    },
    hasPasskeys: () => passkeys().length > 0,
    countPasskeys: async (userId: number) => (await passkeys()[0]?.count?.(userId)) ?? 0,
    /** A new password does not end passkeys, which sign in without it. */
    preparePasskeyRemoval: (userId: number) => prepareRemoval(userId, passkeys()),
    /** Everything but the authenticator app: access to the mailbox must never remove a second factor. */
    prepareWholeRemoval: (userId: number) => prepareRemoval(userId, kinds),
    removeAll: (userId: number): Statement[] => kinds.flatMap((kind) => kind.removeAll(userId)),
  }
}

export type Credentials = ReturnType<typeof createCredentials>
