import { accountErrors } from '../../core/account-errors.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { Me, accountsTag as tag } from '../../platform/openapi/account-docs.ts'
import { Email, Id, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { registrationClosed } from './users.service.ts'

const email = 'ada@example.com'

const Registered = Type.Object(
  { data: Type.Object({ id: Id, email: Email }), message: Type.String() },
  { title: 'Registered' },
)

const me = { tag, responses: { 200: response(Me, { id: 1, email, name: 'Ada', roles: ['editor'] }) } }

export const docs = {
  register: {
    tag,
    operationId: 'register',
    summary: 'Register',
    description: 'Makes a user. The address of the client is recorded.',
    body: {
      example: { email, password: 'Correct-Horse-1', name: 'Ada' },
      fields: { email: 'Trimmed, lower-cased and normalised (NFKC).' },
    },
    responses: { 201: response(Registered, { data: { id: 1, email }, message: 'Registration successful' }) },
    errors: [registrationClosed(), accountErrors.emailTaken(), tooManyAttempts(30)],
  },
  '/me': { ...me, operationId: 'getMe', summary: 'Who am I?' },
  '/api/auth/me': { ...me, operationId: 'getAuthMe', summary: 'Who am I? (the same)' },
} satisfies Record<string, RouteDocs>
