import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import {
  DateTime,
  messageResponse,
  noContent,
  type RouteDocs,
  response,
  unixSeconds,
} from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { authErrors } from './auth.errors.ts'

const tag = { name: 'Authentication', description: 'Signing in and out, tokens, sessions and passwords.' }
const limited = tooManyAttempts(30)
const locked = authErrors.locked(1_767_226_500)
/** Shorter than real tokens, to be readable. */
const access = 'eyJhbGciOi.eyJ0eXBlI.MEUCIQDc'
const refresh = 'eyJhbGciOi.eyJ0eXBlI.4v9ReYHx'
const challenge = 'eyJhbGciOi.eyJ0eXBlI.qZ2KxT0b'
const resetToken = 'x3JYb0mJr8C9vQkq2fHs'

const pairFields = {
  access_token: Type.String({ description: 'Sent as a Bearer token.' }),
  refresh_token: Type.String({ description: 'For `/api/auth/refresh` alone. It works once.' }),
  expires_at: Type.Integer({ ...unixSeconds, description: 'When the access token expires, in Unix seconds.' }),
}
const BareTokenPair = Type.Object(pairFields, { title: 'BareTokenPair' })
const TokenPair = Type.Object({ ...pairFields, token_type: Type.Literal('Bearer') }, { title: 'TokenPair' })
const Challenge = Type.Object(
  {
    requires_2fa: Type.Literal(true),
    challenge_token: Type.String({ description: 'For `/api/auth/2fa/verify`. It is good for 5 minutes by default.' }),
  },
  { title: 'Challenge' },
)
const Session = Type.Object(
  {
    id: Type.String(),
    address: Type.String(),
    user_agent: Type.String(),
    created_at: DateTime,
    last_used_at: DateTime,
    current: Type.Boolean({ description: 'Whether it is the one that asks.' }),
  },
  { title: 'Session' },
)
const endFields = {
  ended_at: DateTime,
  reason: Type.Union(
    [
      Type.Literal('reuse'),
      Type.Literal('logout'),
      Type.Literal('everywhere'),
      Type.Literal('password_change'),
      Type.Literal('administrator'),
      Type.Literal('expiry'),
    ],
    { description: 'Why it ended. `reuse`: a refresh token was presented a second time.' },
  ),
}
const SessionEnd = Type.Object(
  { data: Type.Union([Type.Object(endFields), Type.Null()], { description: 'Null if the session has not ended.' }) },
  { title: 'SessionEnd' },
)
const EndedSession = Type.Object(
  {
    id: Type.String(),
    address: Type.String(),
    user_agent: Type.String(),
    created_at: DateTime,
    last_used_at: DateTime,
    ...endFields,
  },
  { title: 'EndedSession' },
)
const SessionList = Type.Object(
  {
    data: Type.Array(Session),
    ended: Type.Array(EndedSession, { description: 'Those of the last 30 days, the last to end first; at most 100.' }),
  },
  { title: 'SessionList' },
)
const Jwks = Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }, { title: 'Jwks' })

const bareTokens = { access_token: access, refresh_token: refresh, expires_at: 1_767_227_400 }
const tokens = { ...bareTokens, token_type: 'Bearer' as const }

const presentedDevice = {
  'x-device-token': Type.String({
    description:
      'What a completed login returned before. Failures then count for this device, and a lock that strangers set does not apply to it.',
  }),
}
const keptDevice = {
  'x-device-token': Type.String({
    description:
      'With a completed login: makes this device known. Keep it like a password, and send it with the next login.',
  }),
}
const stayingDevice = {
  'x-device-token': Type.String({ description: 'Of the device that stays known; all others are forgotten.' }),
}

const signingIn = {
  login: {
    tag,
    operationId: 'login',
    summary: 'Sign in',
    description:
      'Answers a pair of tokens or, where the user has a second factor, a challenge for it. Five failures lock the account for a while.',
    headers: presentedDevice,
    body: { example: { email: 'ada@example.com', password: 'Correct-Horse-1' } },
    responses: {
      200: {
        schema: Type.Union([TokenPair, Challenge]),
        examples: {
          signed_in: tokens,
          second_factor_needed: { requires_2fa: true, challenge_token: challenge },
        },
        headers: keptDevice,
      },
    },
    errors: [authErrors.invalidCredentials(), authErrors.emailNotVerified(), locked, limited],
  },
  verify: {
    tag,
    operationId: 'verifySecondFactor',
    summary: 'Sign in, second step',
    description: 'Turns a challenge and a code of the authenticator app, or a recovery code, into a pair of tokens.',
    headers: presentedDevice,
    body: { example: { challenge_token: challenge, code: '123456' } },
    responses: { 200: response(BareTokenPair, bareTokens, { headers: keptDevice }) },
    errors: [authErrors.invalidChallenge(), authErrors.invalidCode(), authErrors.emailNotVerified(), locked, limited],
  },
  refresh: {
    tag,
    operationId: 'refreshTokens',
    summary: 'Refresh',
    description:
      'Trades a refresh token for a new pair. One that was traded before looks like theft and ends the session.',
    headers: {
      'idempotency-key': Type.String({
        minLength: 16,
        description: 'With the same key, a repeated request within 60 seconds gets the same pair again.',
      }),
    },
    body: { example: { refresh_token: refresh } },
    responses: { 200: response(TokenPair, tokens) },
    errors: [authErrors.invalidRefreshToken(), limited],
  },
  logout: {
    tag,
    operationId: 'logout',
    summary: 'Sign out',
    description: 'Ends the access token or, with `all_devices`, every session of the user.',
    headers: stayingDevice,
    body: { example: { all_devices: false } },
    responses: { 200: messageResponse('Logged out') },
  },
  sessions: {
    tag,
    operationId: 'listSessions',
    summary: 'List sessions',
    description: 'The devices on which the user is signed in, the last used first, and those on which sessions ended.',
    responses: {
      200: response(SessionList, {
        data: [
          {
            id: 'Zk3vX0n1Q2w9aRtY',
            address: '203.0.113.7',
            user_agent: 'curl/8.14.1',
            created_at: '2026-01-01T00:00:00.000Z',
            last_used_at: '2026-01-01T00:10:00.000Z',
            current: true,
          },
        ],
        ended: [
          {
            id: 'b7Jq2LmX0c4Vt8Hs',
            address: '198.51.100.23',
            user_agent: 'curl/8.14.1',
            created_at: '2025-12-20T09:00:00.000Z',
            last_used_at: '2025-12-21T18:30:00.000Z',
            ended_at: '2025-12-21T18:40:00.000Z',
            reason: 'password_change' as const,
          },
        ],
      }),
    },
  },
  explainEnd: {
    tag,
    operationId: 'explainEndedSession',
    summary: 'Why a session ended',
    description:
      'For a client whose refresh was refused. Takes any refresh token of the session, used or expired, and changes nothing.',
    body: { example: { refresh_token: refresh } },
    responses: {
      200: response(SessionEnd, {
        data: { ended_at: '2025-12-21T18:40:00.000Z', reason: 'password_change' as const },
      }),
    },
    errors: [authErrors.invalidRefreshToken(), limited],
  },
  endSession: {
    tag,
    operationId: 'endSession',
    summary: 'End a session',
    description:
      "Its tokens stop working at once, and where it is another device's, that device is not known any more. Another user's session is not found.",
    params: { id: Type.String({ description: 'As the list of sessions has it.' }) },
    responses: { 204: noContent },
  },
  jwks: {
    tag,
    operationId: 'getPublicKeys',
    summary: 'Public keys',
    description: 'With which others can verify access tokens. The list is empty where a secret signs them.',
    responses: {
      200: response(Jwks, {
        keys: [
          { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', alg: 'EdDSA', use: 'sig' },
        ],
      }),
    },
  },
} satisfies Record<string, RouteDocs>

const removesPasskeys = 'Removes all passkeys of the user too.'

const passwords = {
  changePassword: {
    tag,
    operationId: 'changePassword',
    summary: 'Change the password',
    description: 'Signs the user out everywhere, here too. Passkeys keep signing in unless you remove them.',
    headers: stayingDevice,
    body: {
      example: { current_password: 'Correct-Horse-1', new_password: 'Better-Horse-2', remove_passkeys: false },
      fields: { remove_passkeys: removesPasskeys },
    },
    responses: { 200: messageResponse('Password changed') },
    errors: [authErrors.invalidCredentials(), locked, limited],
  },
  forgotPassword: {
    tag,
    operationId: 'forgotPassword',
    summary: 'Ask for a new password',
    description: 'Sends a mail with a token. The answer is the same for every email. Without mail it is 503.',
    body: { example: { email: 'ada@example.com' } },
    responses: { 202: messageResponse('If that email is registered, a message is on its way') },
    errors: [limited],
  },
  resetPassword: {
    tag,
    operationId: 'resetPassword',
    summary: 'Set a new password',
    description:
      'With the token from the mail, which works once, for an hour. Signs the user out everywhere, and never removes an authenticator app. The first reset of an address that was never verified also removes passkeys and API keys.',
    body: {
      example: { token: resetToken, password: 'Better-Horse-2', remove_passkeys: false },
      fields: { remove_passkeys: removesPasskeys },
    },
    responses: { 200: messageResponse('Password changed') },
    errors: [authErrors.invalidResetToken(), limited],
  },
} satisfies Record<string, RouteDocs>

export const docs = { ...signingIn, ...passwords }
