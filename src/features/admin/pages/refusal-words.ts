import { reword } from '../../../platform/pages/components/reword.ts'

const words: Readonly<Record<string, string>> = {
  forbidden:
    'You can’t do that: the role or the user has permissions that you don’t have, or this is your own account.',
  last_administrator: 'This is the last administrator. Somebody has to stay one: give the role to another user first.',
  user_is_still_referred_to: 'Other records refer to this user, so it cannot be deleted. You can disable it instead.',
  user_has_no_open_invitation: 'This user has a password already, or is disabled.',
  too_many_attempts: 'This user was invited three times within an hour. Wait a little.',
}

export const inOtherWords = (error: unknown): unknown => reword(error, words)
