import { Type } from '../../platform/validation/schema-builder.ts'
import type { UsersService } from '../users/users.create.ts'

export function createPeopleSchemas({ EmailAddress, Profile, UserEdit }: UsersService) {
  const Invitation = Type.Object({
    email: EmailAddress,
    name: Profile.properties.name,
    roles: Type.Optional(Type.Array(Type.String())),
  })
  return { Invitation, UserEdit }
}
