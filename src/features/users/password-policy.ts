import { maxPasswordBytes } from '../../platform/passwords/passwords.ts'

export interface PasswordPolicy {
  minLength: number
  requireUpper: boolean
  requireNumber: boolean
  requireSymbol: boolean
}

/** Returns a message for each violated rule. */
export function findPasswordProblems(password: string, policy: PasswordPolicy): string[] {
  const problems: string[] = []
  if ([...password].length < policy.minLength) problems.push(`Must be at least ${policy.minLength} characters`)
  if (policy.requireUpper && !/\p{Lu}/u.test(password)) problems.push('Must contain an upper-case letter')
  if (policy.requireNumber && !/\p{Nd}/u.test(password)) problems.push('Must contain a number')
  if (policy.requireSymbol && !/[^\p{L}\p{N}\s]/u.test(password)) problems.push('Must contain a symbol')
  if (Buffer.byteLength(password) > maxPasswordBytes) problems.push(`Must be at most ${maxPasswordBytes} bytes`)
  return problems
}
