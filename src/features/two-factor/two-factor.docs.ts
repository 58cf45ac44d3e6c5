import { credentialErrors } from '../../core/credential-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { messageResponse, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { alreadyEnabled, notEnabled } from './two-factor.service.ts'

const tag = { name: 'Two-factor', description: 'The second factor of an account, and its recovery codes.' }
const limited = tooManyAttempts(30)
const locked = credentialErrors.locked(1_767_226_500)
const wrongPassword = [credentialErrors.invalidCredentials(), locked, limited]
const wrongEither = [
  credentialErrors.invalidCredentials(),
  credentialErrors.invalidCode(),
  notEnabled(),
  locked,
  limited,
]
const passwordAndCode = { password: 'Correct-Horse-1', code: '123456' }

const RecoveryCodes = Type.Array(Type.String(), { description: 'Each works once, in the place of a code.' })
const recovery_codes = ['ABCD-EFGH-IJKL-MNOP-QRST-UVWX', 'BCDE-FGHI-JKLM-NOPQ-RSTU-VWXY']

const TwoFactorStatus = Type.Object(
  { enabled: Type.Boolean(), recovery_codes_left: Type.Integer({ minimum: 0 }) },
  { title: 'TwoFactorStatus' },
)
const TwoFactorSetup = Type.Object(
  {
    secret: Type.String({ description: 'In base32.' }),
    otpauth_url: Type.String({ format: 'uri' }),
    qr_code: Type.String({ format: 'uri', description: 'The same as a picture: a data URI of an SVG.' }),
  },
  { title: 'TwoFactorSetup' },
)
const TwoFactorEnabled = Type.Object(
  { recovery_codes: RecoveryCodes, message: Type.String() },
  { title: 'TwoFactorEnabled' },
)
const NewRecoveryCodes = Type.Object({ recovery_codes: RecoveryCodes }, { title: 'RecoveryCodes' })

export const docs = {
  status: {
    tag,
    operationId: 'getTwoFactor',
    summary: 'Is it on?',
    responses: {
      200: response(TwoFactorStatus, {
        enabled: true,
        recovery_codes_left: 10,
      }),
    },
  },
  setUp: {
    tag,
    operationId: 'setUpTwoFactor',
    summary: 'Set up an authenticator app',
    description: 'Makes a secret for the app. It is on only once a code has confirmed it, within an hour.',
    body: { example: { password: 'Correct-Horse-1' } },
    responses: {
      200: response(TwoFactorSetup, {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        otpauth_url:
          'otpauth://totp/Latchkey:ada%40example.com?issuer=Latchkey&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        qr_code: 'data:image/svg+xml;base64,PHN2Zy8+',
      }),
    },
    errors: [...wrongPassword, alreadyEnabled()],
  },
  enable: {
    tag,
    operationId: 'enableTwoFactor',
    summary: 'Turn it on',
    description: 'With a code of the app. The recovery codes are shown this once.',
    body: { example: { code: '123456' } },
    responses: {
      200: response(TwoFactorEnabled, {
        recovery_codes,
        message: 'Two-factor enabled. Keep the recovery codes in a safe place.',
      }),
    },
    errors: [alreadyEnabled(), validationFailed({ code: ['Invalid two-factor code'] }), limited],
  },
  disable: {
    tag,
    operationId: 'disableTwoFactor',
    summary: 'Turn it off',
    body: { example: passwordAndCode },
    responses: { 200: messageResponse('Two-factor disabled') },
    errors: wrongEither,
  },
  renewRecoveryCodes: {
    tag,
    operationId: 'renewRecoveryCodes',
    summary: 'Renew the recovery codes',
    description: 'The old ones are void.',
    body: { example: passwordAndCode },
    responses: { 200: response(NewRecoveryCodes, { recovery_codes }) },
    errors: wrongEither,
  },
} satisfies Record<string, RouteDocs>
