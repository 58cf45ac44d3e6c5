import { maxPasswordBytes } from '../../platform/passwords/passwords.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { isPersonal, loadCommonPasswords } from './common-passwords.ts'

export interface PasswordPolicy {
  minLength: number
  requireUpper: boolean
  requireNumber: boolean
  requireSymbol: boolean
  refuseCommon: boolean
}

export async function createPasswordPolicy(policy: PasswordPolicy) {
  const isCommon = policy.refuseCommon ? await loadCommonPasswords() : () => false
  return {
    findPasswordProblems: (password: string) => [
      ...findRuleProblems(password, policy),
      ...(isCommon(password) ? ['Must not be a common password'] : []),
    ],

    /** Throws 422 for a password that holds its user's email or name, where common passwords are refused. */
    requireImpersonal({ field, password, ...user }: PersonalCheck): void {
      if (!policy.refuseCommon || !isPersonal(password, user)) return
      throw validationFailed({ [field]: ['Must not contain your email or name'] })
    },
  }
}

interface PersonalCheck {
  field: string
  password: string
  email?: string
  name?: string
}

/** Every rule that a password breaks, in the order in which people are told. */
function findRuleProblems(password: string, policy: PasswordPolicy): string[] {
  const problems: string[] = []
  if ([...password].length < policy.minLength) problems.push(`Must be at least ${policy.minLength} characters`)
  if (policy.requireUpper && !/\p{Lu}/u.test(password)) problems.push('Must contain an upper-case letter')
  if (policy.requireNumber && !/\p{Nd}/u.test(password)) problems.push('Must contain a number')
  if (policy.requireSymbol && !/[^\p{L}\p{N}\s]/u.test(password)) problems.push('Must contain a symbol')
  if (Buffer.byteLength(password) > maxPasswordBytes) problems.push(`Must be at most ${maxPasswordBytes} bytes`)
  return problems
}
