/** What signing in needs of other features. app.ts hands it over. */
import type { Statement } from '../../platform/database/database.ts'

export interface SecondFactors {
  /** Returns the deciding statements that use up a right code, of an app or for recovery; undefined for a wrong one. */
  findUse(userId: number, code: string): Promise<Statement[] | undefined>
}
