/** What two features both claim. */
import { exitCodes, FatalError } from '../core/fatal-error.ts'

/** Who has what no feature has. */
export const ourselves = 'latchkey'

export class Claims {
  readonly #taken = new Map<string, string>()

  /** Throws where another feature, or the same one, has claimed it before. */
  add(feature: string, claim: string): void {
    const other = this.#taken.get(claim)
    if (other !== undefined) throw clash(claim, { feature, other })
    this.#taken.set(claim, feature)
  }
}

/** One line with both names. Where one of the two is the service itself, the feature has to give way. */
export function clash(claim: string, { feature, other }: { feature: string; other: string }): FatalError {
  const [later, earlier] = feature === ourselves ? [other, feature] : [feature, other]
  return new FatalError(`feature ${later}: the ${claim} is taken by ${earlier}`, exitCodes.configuration)
}
