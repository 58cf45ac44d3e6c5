/** What browsers send: the JSON of a PublicKeyCredential. */
import { OrEmpty } from '../../platform/validation/body-validation.ts'
import { Type, type Validated } from '../../platform/validation/schema-builder.ts'

export const maxNameLength = 100

export const Name = Type.String({ 'x-not-blank': true, maxLength: maxNameLength })

/** From `navigator.credentials.create`. */
export const RegistrationResponse = Type.Object(
  {
    id: OrEmpty,
    rawId: OrEmpty,
    type: OrEmpty,
    response: Type.Object({
      clientDataJSON: OrEmpty,
      attestationObject: OrEmpty,
      transports: Type.Optional(Type.Array(Type.String(), { maxItems: 10 })),
    }),
  },
  { title: 'RegistrationResponse' },
)

/** From `navigator.credentials.get`. */
export const AuthenticationResponse = Type.Object(
  {
    id: OrEmpty,
    rawId: OrEmpty,
    type: OrEmpty,
    response: Type.Object({
      clientDataJSON: OrEmpty,
      authenticatorData: OrEmpty,
      signature: OrEmpty,
      userHandle: OrEmpty,
    }),
  },
  { title: 'AuthenticationResponse' },
)

export type RegistrationResponse = Validated<typeof RegistrationResponse>
export type AuthenticationResponse = Validated<typeof AuthenticationResponse>
