import { isEmail, isTooLong, maxEmailLength, normaliseEmail } from '../../core/email.ts'
import { Type, type Validated } from '../../platform/validation/schema-builder.ts'

const Name = Type.Optional(Type.String({ maxLength: 255, default: '' }))

/** What users may change themselves. */
export const Profile = Type.Object({ name: Name })

export const EmailAddress = Type.String({ 'x-not-blank': true, 'x-check': findEmailProblems })

/** What administrators may change of a user. What is missing stays as it is. */
export const UserEdit = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 255 })),
  email: Type.Optional(Type.String({ 'x-not-blank': true, 'x-check': findEmailProblems })),
  disabled: Type.Optional(Type.Boolean()),
})

/** What registering asks for, over HTTP and on the command line. */
export function createRegistrationSchema(findPasswordProblems: (password: string) => string[]) {
  return Type.Object({
    email: EmailAddress,
    password: Type.String({ 'x-not-blank': true, 'x-check': findPasswordProblems }),
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
