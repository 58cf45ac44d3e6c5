import { isEmail, isTooLong, maxEmailLength, normaliseEmail } from '../../core/email.ts'
import { Type, type Validated } from '../../platform/validation/schema-builder.ts'
import { findPasswordProblems, type PasswordPolicy } from './password-policy.ts'

const Name = Type.Optional(Type.String({ maxLength: 255, default: '' }))

/** What users may change themselves. */
export const Profile = Type.Object({ name: Name })

/** Used over HTTP and on the command line. */
export function createRegistrationSchema(policy: PasswordPolicy) {
  return Type.Object({
    email: Type.String({ 'x-not-blank': true, 'x-check': findEmailProblems }),
    password: Type.String({
      'x-not-blank': true,
      'x-check': (password: string) => findPasswordProblems(password, policy),
    }),
    name: Name,
  })
}

export type RegistrationBody = Validated<ReturnType<typeof createRegistrationSchema>>

function findEmailProblems(given: string): string[] {
  return [
    ...(isEmail(given) ? [] : ['Must be a valid email address']),
    ...(isTooLong(normaliseEmail(given)) ? [`Must be at most ${maxEmailLength} characters`] : []),
  ]
}
