import { credentialErrors } from '../../core/credential-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { DateTime, Id, noContent, type RouteDocs, response, unixSeconds } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { passkeyErrors } from './passkeys.errors.ts'

const tag = {
  name: 'Passkeys',
  description: 'Signing in without a password, by WebAuthn. There are none in production without `server.public_url`.',
}
const administration = 'Administration'
const limited = tooManyAttempts(30)
const wrongPassword = [credentialErrors.invalidCredentials(), credentialErrors.locked(1_767_226_500), limited]

/** Shorter than real ones, to be readable. */
const challenge = 'b0NhUW1YdGZkSjJk'
const credentialId = 'q7Jq2LmX0c4Vt8Hs'
const userHandle = 'ZGVhZGJlZWZkZWFk'

const Passkey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    backed_up: Type.Boolean({ description: 'Whether it is synced to other devices.' }),
    created_at: DateTime,
    last_used_at: Type.Union([DateTime, Type.Null()]),
  },
  { title: 'Passkey' },
)
const passkey = {
  id: 'Zk3vX0n1Q2w9aRtY',
  name: 'My phone',
  backed_up: true,
  created_at: '2026-01-01T00:00:00.000Z',
  last_used_at: null,
}
const AddedPasskey = Type.Object({ data: Passkey }, { title: 'AddedPasskey' })
const PasskeyList = Type.Object({ data: Type.Array(Passkey) }, { title: 'PasskeyList' })

const Descriptor = Type.Object(
  { id: Type.String(), type: Type.String(), transports: Type.Optional(Type.Array(Type.String())) },
  { title: 'PasskeyDescriptor' },
)
const CreationOptions = Type.Object(
  {
    challenge: Type.String({ description: 'Works once, for 5 minutes, in this session.' }),
    rp: Type.Object({ id: Type.String(), name: Type.String() }),
    user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
    pubKeyCredParams: Type.Array(Type.Object({ alg: Type.Integer(), type: Type.String() })),
    timeout: Type.Integer({ description: 'In milliseconds.' }),
    attestation: Type.Literal('none'),
    excludeCredentials: Type.Array(Descriptor),
    authenticatorSelection: Type.Object({
      residentKey: Type.String(),
      requireResidentKey: Type.Boolean(),
      userVerification: Type.String(),
    }),
    extensions: Type.Object({ credProps: Type.Boolean() }),
    hints: Type.Array(Type.String()),
  },
  { title: 'PasskeyCreationOptions' },
)
const RequestOptions = Type.Object(
  {
    challenge: Type.String({ description: 'Works once, for 5 minutes.' }),
    rpId: Type.String(),
    timeout: Type.Integer({ description: 'In milliseconds.' }),
    allowCredentials: Type.Array(Descriptor, { description: 'Always empty: the user chooses among their passkeys.' }),
    userVerification: Type.Literal('required'),
  },
  { title: 'PasskeyRequestOptions' },
)
/** The same as at login. */
const TokenPair = Type.Object(
  {
    access_token: Type.String({ description: 'Sent as a Bearer token.' }),
    refresh_token: Type.String({ description: 'For `/api/auth/refresh` alone. It works once.' }),
    expires_at: Type.Integer({ ...unixSeconds, description: 'When the access token expires, in Unix seconds.' }),
    token_type: Type.Literal('Bearer'),
  },
  { title: 'TokenPair' },
)

const own = {
  list: {
    tag,
    operationId: 'listPasskeys',
    summary: 'List my passkeys',
    responses: { 200: response(PasskeyList, { data: [passkey] }) },
  },
  creationOptions: {
    tag,
    operationId: 'createPasskeyOptions',
    summary: 'Add a passkey, first step',
    description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON` and `navigator.credentials.create`.',
    body: { example: { password: 'Correct-Horse-1' } },
    responses: {
      200: response(CreationOptions, {
        challenge,
        rp: { id: 'auth.example.com', name: 'Latchkey' },
        user: { id: userHandle, name: 'ada@example.com', displayName: 'Ada' },
        pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        extensions: { credProps: true },
        hints: [],
      }),
    },
    errors: [...wrongPassword, passkeyErrors.tooMany()],
  },
  add: {
    tag,
    operationId: 'addPasskey',
    summary: 'Add a passkey, second step',
    description: 'With what `navigator.credentials.create` returned, as its `toJSON` writes it. At most 20 for a user.',
    body: {
      types: ['application/json'],
      example: {
        name: 'My phone',
        response: {
          id: credentialId,
          rawId: credentialId,
          type: 'public-key',
          response: { clientDataJSON: 'eyJ0eXBlIjoi', attestationObject: 'o2NmbXRkbm9u', transports: ['internal'] },
        },
      },
    },
    responses: { 201: response(AddedPasskey, { data: passkey }) },
    errors: [passkeyErrors.invalidPasskey(), passkeyErrors.alreadyRegistered(), passkeyErrors.tooMany(), limited],
  },
  remove: {
    tag,
    operationId: 'removePasskey',
    summary: 'Remove a passkey',
    params: { id: Type.String({ description: 'As the list of passkeys has it.' }) },
    body: { example: { password: 'Correct-Horse-1' } },
    responses: { 204: noContent },
    errors: wrongPassword,
  },
} satisfies Record<string, RouteDocs>

const signingIn = {
  requestOptions: {
    tag,
    operationId: 'createPasskeyLoginOptions',
    summary: 'Sign in with a passkey, first step',
    description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get`.',
    responses: {
      200: response(RequestOptions, {
        challenge,
        rpId: 'auth.example.com',
        timeout: 300_000,
        allowCredentials: [],
        userVerification: 'required',
      }),
    },
    errors: [limited],
  },
  login: {
    tag,
    operationId: 'loginWithPasskey',
    summary: 'Sign in with a passkey, second step',
    description:
      'With what `navigator.credentials.get` returned, as its `toJSON` writes it. It is both factors: no code is asked for.',
    headers: {
      'x-device-token': Type.String({ description: 'What a completed login returned before.' }),
    },
    body: {
      types: ['application/json'],
      example: {
        response: {
          id: credentialId,
          rawId: credentialId,
          type: 'public-key',
          response: {
            clientDataJSON: 'eyJ0eXBlIjoi',
            authenticatorData: 'SZYN5YgOjGh0',
            signature: 'MEUCIQDcBzm5',
            userHandle,
          },
        },
      },
    },
    responses: {
      200: response(TokenPair, {
        access_token: 'eyJhbGciOi.eyJ0eXBlI.MEUCIQDc',
        refresh_token: 'eyJhbGciOi.eyJ0eXBlI.4v9ReYHx',
        expires_at: 1_767_227_400,
        token_type: 'Bearer',
      }),
    },
    errors: [credentialErrors.invalidCredentials(), credentialErrors.emailNotVerified(), limited],
  },
} satisfies Record<string, RouteDocs>

const ofUsers = {
  listOfUser: {
    tag: administration,
    operationId: 'listUserPasskeys',
    summary: "List a user's passkeys",
    params: { id: Id },
    responses: { 200: response(PasskeyList, { data: [passkey] }) },
  },
  removeOfUser: {
    tag: administration,
    operationId: 'removeUserPasskey',
    summary: "Remove a user's passkey",
    description:
      'The passkey no longer signs in. Sessions stay. Refused for yourself, and for users with permissions that you lack.',
    params: { id: Id, passkey: Type.String({ description: 'As the list of passkeys has it.' }) },
    responses: { 204: noContent },
  },
} satisfies Record<string, RouteDocs>

export const docs = { ...own, ...signingIn, ...ofUsers }
