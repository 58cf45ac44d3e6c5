/** Why a session ended, in words. */
import type { EndReason } from './console.service.ts'

/** In the list of devices. */
export const endWords: Readonly<Record<EndReason, string>> = {
  reuse: 'An old token was used again',
  logout: 'Signed out',
  everywhere: 'Signed out everywhere',
  password_change: 'The password was changed',
  administrator: 'Ended by an administrator',
  expiry: 'Expired',
}

/** For the sign-in page, if the browser still has the session's cookie. */
export const endSentences: Readonly<Record<EndReason, string>> = {
  reuse:
    'You were signed out because a token of your session was used a second time, which happens when somebody has copied it: sign in and change your password.',
  logout: 'You were signed out here from another of your devices.',
  everywhere: 'You were signed out on all of your devices.',
  password_change: 'You were signed out because the password of your account was changed.',
  administrator: 'An administrator signed you out.',
  expiry: 'You were signed out because your session has expired.',
}
