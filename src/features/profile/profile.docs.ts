import { accountErrors } from '../../core/account-errors.ts'
import { credentialErrors } from '../../core/credential-errors.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { Me, accountsTag as tag } from '../../platform/openapi/account-docs.ts'
import { messageResponse, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { invalidToken } from './email-change.service.ts'

const email = 'ada@example.com'
const token = 'S2hQw0mZ0aVn7yJxk3l1cRr5b8u2d4f6g9h1j3k5m7p'
const limited = tooManyAttempts(30)
const confirmed = [credentialErrors.invalidCredentials(), credentialErrors.locked(1_767_225_600), limited]
/** Of a link that is confirmed by somebody else than the owner of the account. */
const unproven = [...confirmed, httpErrors.missingToken(), httpErrors.invalidToken(), httpErrors.forbidden()]
const withOwner =
  'With the token from the mail, which works once, for a day. Requires an access token of the account or its password, because somebody else may have registered the address.'
const linkBody = {
  example: { token, password: 'Correct-Horse-1' },
  fields: { password: 'Not needed with an access token of the account.' },
}
const presentedDevice = {
  'x-device-token': Type.String({
    description: 'From an earlier login. A wrong password then counts for this device.',
  }),
}

export const docs = {
  rename: {
    tag,
    operationId: 'updateMe',
    summary: 'Change my name',
    body: { example: { name: 'Ada Lovelace' } },
    responses: { 200: response(Me, { id: 1, email, name: 'Ada Lovelace', roles: ['editor'] }) },
    errors: [limited],
  },
  remove: {
    tag,
    operationId: 'deleteMe',
    summary: 'Delete my account',
    description: 'Requires the password and, if two-factor is on, a code. It cannot be undone.',
    body: { example: { password: 'Correct-Horse-1', code: '' } },
    responses: { 204: noContent },
    errors: [
      ...confirmed,
      credentialErrors.invalidCode(),
      accountErrors.lastAdministrator(),
      accountErrors.stillReferredTo(),
    ],
  },
  changeEmail: {
    tag,
    operationId: 'changeEmail',
    summary: 'Change my email',
    description:
      'If the service can send mail, a link sent to the new address must be followed first (202). Otherwise the email is changed at once (200).',
    body: { example: { email: 'ada@example.org', password: 'Correct-Horse-1' } },
    responses: {
      200: messageResponse('Email changed'),
      202: messageResponse('A message to the new address is on its way'),
    },
    errors: [...confirmed, accountErrors.emailTaken()],
  },
  confirmEmail: {
    tag,
    operationId: 'confirmEmail',
    summary: 'Confirm a new email',
    description: withOwner,
    headers: presentedDevice,
    body: linkBody,
    responses: { 200: messageResponse('Email changed') },
    errors: [invalidToken(), ...unproven, accountErrors.emailTaken()],
  },
  requestVerification: {
    tag,
    operationId: 'requestVerification',
    summary: 'Ask for a verification mail',
    description: 'At most three mails an hour, and none if the email is verified. 503 if the service cannot send mail.',
    responses: { 202: messageResponse('A message is on its way') },
    errors: [limited],
  },
  verifyEmail: {
    tag,
    operationId: 'verifyEmail',
    summary: 'Verify an email',
    description: withOwner,
    headers: presentedDevice,
    body: linkBody,
    responses: { 200: messageResponse('Email verified') },
    errors: [credentialErrors.invalidVerificationToken(), ...unproven],
  },
} satisfies Record<string, RouteDocs>
