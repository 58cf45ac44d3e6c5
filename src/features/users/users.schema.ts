import Type from 'typebox'
import { isEmail, maxEmailLength, normaliseEmail } from '../../core/email.ts'
import { findPasswordProblems, type PasswordPolicy } from './password-policy.ts'

/** What registering asks for, over HTTP and on the command line. */
export function createRegistrationSchema(policy: PasswordPolicy) {
  return Type.Object({
    email: Type.String({ 'x-not-blank': true, 'x-check': findEmailProblems }),
    password: Type.String({
      'x-not-blank': true,
      'x-check': (password: string) => findPasswordProblems(password, policy),
    }),
    name: Type.Optional(Type.String({ maxLength: 255, default: '' })),
  })
}

function findEmailProblems(given: string): string[] {
  const email = normaliseEmail(given)
  return [
    ...(isEmail(email) ? [] : ['Must be a valid email address']),
    ...(email.length > maxEmailLength ? [`Must be at most ${maxEmailLength} characters`] : []),
  ]
}
