/** The second step of a login. What checks it registers here; without one, no account has a second factor. */
import type { Statement } from '../../platform/database/database.ts'

export interface SecondFactor {
  /** Returns the deciding statements that use up a right code, of an app or for recovery; undefined for a wrong one. */
  findUse(userId: number, code: string): Promise<Statement[] | undefined>
}

export function createSecondFactorSlot() {
  let provided: SecondFactor | undefined
  return {
    provide(factor: SecondFactor): void {
      provided = factor
    },
    findUse: async (userId: number, code: string) => provided?.findUse(userId, code),
  }
}
