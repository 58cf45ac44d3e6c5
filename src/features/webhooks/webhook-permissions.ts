/**
 * Account events have emails, names and addresses, so a webhook gets them only from somebody who may read them: whoever
 * saved it last, as long as they hold the permissions of these events.
 */
import type { ChangeTopics } from '../../platform/changes/topics.ts'
import type { UsersService } from '../users/users.create.ts'
import { wantsType } from './webhook.ts'
import type { WebhookRow } from './webhooks.store.ts'

export interface PermissionsDeps {
  topics: Pick<ChangeTopics, 'permissionsFor'>
  users: Pick<UsersService, 'findEnabled' | 'createUser'>
}

export interface Reader {
  can(permission: string): boolean
}

export type WebhookPermissions = ReturnType<typeof createWebhookPermissions>

export function createWebhookPermissions({ topics, users }: PermissionsDeps) {
  const neededFor = (types: readonly string[]) => topics.permissionsFor((type) => wantsType(types, type))

  const mayRead = (reader: Reader, types: readonly string[]) => neededFor(types).every((each) => reader.can(each))

  return {
    mayRead,
    /** At this moment. */
    async ownerMayRead({ owner_id }: Pick<WebhookRow, 'owner_id'>, types: readonly string[]): Promise<boolean> {
      if (neededFor(types).length === 0) return true
      const row = owner_id === null ? undefined : await users.findEnabled(owner_id)
      return row !== undefined && mayRead(users.createUser(row), types)
    },
  }
}
