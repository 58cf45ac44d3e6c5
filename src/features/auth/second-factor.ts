/** The extension point for second factors. Without a provider, no account has one. */
import type { Statement } from '../../platform/database/database.ts'

export interface SecondFactor {
  /** Returns the deciding statements that consume a TOTP or recovery code; undefined if the code is wrong. */
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
