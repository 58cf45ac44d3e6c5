/** What else lets a user in, beside the password: features that keep such a thing register here how it is removed. */
import type { Statement } from '../../platform/database/database.ts'

export interface CredentialKind {
  /** Statements for a batch that takes everything of this kind from the user. */
  removeAll(userId: number): Statement[]
}

export function createCredentials() {
  const kinds: CredentialKind[] = []
  return {
    provide(kind: CredentialKind): void {
      kinds.push(kind)
    },
    removeAll: (userId: number): Statement[] => kinds.flatMap((kind) => kind.removeAll(userId)),
  }
}

export type Credentials = ReturnType<typeof createCredentials>
