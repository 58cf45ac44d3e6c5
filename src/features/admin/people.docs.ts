import { accountErrors } from '../../core/account-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { ListedUser, nobodyAbove, tag, UserEnvelope, user } from './admin.docs.ts'
import { unknownRoles } from './admin.service.ts'
import { notInvited } from './invitations.service.ts'

const params = { id: Id }
const lastAdministrator = accountErrors.lastAdministrator()
const emailTaken = accountErrors.emailTaken()

const Invited = Type.Object(
  {
    data: ListedUser,
    invite_url: Type.Optional(
      Type.String({ description: 'Where the user sets a password. Only without mail: hand it over yourself.' }),
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
      'Makes a user without a password, and mails a link to set one, which works once, for seven days. Without mail the response has the link. You can give only roles whose permissions you hold.',
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
    description: `For a user who has not set a password yet. Earlier links are void. At most three an hour. ${nobodyAbove}`,
    params,
    responses: { 200: response(Invited, invited) },
    errors: [notInvited(), tooManyAttempts(3600)],
  },
  change: {
    tag,
    operationId: 'updateUser',
    summary: 'Change or disable a user',
    description: `What is missing stays as it is. A new email is not verified, and links that were mailed before are void. A disabled user cannot sign in, and loses every session at once. ${nobodyAbove}`,
    params,
    body: { example: { name: 'Bob Brown', email: 'bob@example.org', disabled: false } },
    responses: { 200: response(UserEnvelope, { data: user }) },
    errors: [emailTaken, lastAdministrator],
  },
  remove: {
    tag,
    operationId: 'deleteUser',
    summary: 'Delete a user',
    description: `It cannot be undone. ${nobodyAbove}`,
    params,
    responses: { 204: noContent },
    errors: [lastAdministrator, accountErrors.stillReferredTo()],
  },
} satisfies Record<string, RouteDocs>
