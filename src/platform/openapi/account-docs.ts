/** Documentation shared by all endpoints about the signed-in user. */
import { Type } from '../validation/schema-builder.ts'
import { Email, Id } from './route-docs.ts'

export const accountsTag = { name: 'Accounts', description: 'Who users are.' }

export const Me = Type.Object(
  { id: Id, email: Email, name: Type.String(), roles: Type.Array(Type.String()) },
  { title: 'Me' },
)
