import { accountErrors } from '../../core/account-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { ListedUser, othersOnly, tag, UserEnvelope, user } from './admin.docs.ts'
import { unknownRoles } from './admin.service.ts'
import { notInvited } from './invitations.service.ts'

const params = { id: Id }
const lastAdministrator = accountErrors.lastAdministrator()
const emailTaken = accountErrors.emailTaken()

const Invited = Type.Object(
  {
    data: ListedUser,
    invite_url: Type.Optional(
      Type.String({
        description: 'Where the user sets a password. Only if the service cannot send mail: pass it on yourself.',
      }),
    ),
  },
  { title: 'InvitedUser' },
)
const invited = {
  data: { ...user, id: 3, email: 'carol@example.com', name: 'Carol' },
  invite_url: 'https://app.example.com/console/invitation?token=S2hQw0mZ0aVn7yJxk3l1cRr5b8u2d4f6g9h1j3k5m7p',
}

export const docs = {
  invite: {
    tag,
    operationId: 'inviteUser',
    summary: 'Invite a user',
    description:
      'Creates a user without a password and mails a link to set one. The link works once, for seven days. If the service cannot send mail, the response contains it. You can grant only roles whose permissions you have.',
    body: {
      example: { email: 'carol@example.com', name: 'Carol', roles: ['editor'] },
      fields: { roles: 'Default: the roles that a newly registered user gets.' },
    },
    responses: { 201: response(Invited, invited) },
    errors: [emailTaken, unknownRoles(['typist'])],
  },
  renew: {
    tag,
    operationId: 'renewInvitation',
    summary: 'Invite a user again',
    description: `For a user who has not set a password yet. Earlier links stop working. At most three an hour. ${othersOnly}`,
    params,
    responses: { 200: response(Invited, invited) },
    errors: [notInvited(), tooManyAttempts(3600)],
  },
  change: {
    tag,
    operationId: 'updateUser',
    summary: 'Change or disable a user',
    description: `Missing fields stay unchanged. A new email is not verified, and links mailed before stop working. A disabled user cannot sign in, and loses every session at once. Of yourself, you can change only the name here. ${othersOnly}`,
    params,
    body: { example: { name: 'Bob Brown', email: 'bob@example.org', disabled: false } },
    responses: { 200: response(UserEnvelope, { data: user }) },
    errors: [emailTaken, lastAdministrator],
  },
  remove: {
    tag,
    operationId: 'deleteUser',
    summary: 'Delete a user',
    description: `It cannot be undone. ${othersOnly}`,
    params,
    responses: { 204: noContent },
    errors: [lastAdministrator, accountErrors.stillReferredTo()],
  },
} satisfies Record<string, RouteDocs>
