/** What signing in needs of other features. app.ts hands it over. */
import type { Param, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'

export interface Audit {
  entry(entry: { event: string; outcome: string; userId: Param; client: Client }): Statement
}

export interface SecondFactors {
  /** Answers the deciding statements that use up a right code, of an app or for recovery; undefined for a wrong one. */
  findUse(userId: number, code: string): Promise<Statement[] | undefined>
}
