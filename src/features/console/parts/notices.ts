/** What a page says after something was done. A redirect names it, so that reloading does nothing twice. */
const notices = {
  'signed-out': 'You are signed out.',
  'session-over': 'You are signed out, so nothing was changed. Sign in to go on.',
  registered: 'Welcome. Your account is made: sign in to go on.',
  'reset-sent': 'If that email is registered, a message is on its way.',
  'password-reset': 'Your password is changed. Sign in with the new one.',
  'password-changed': 'Your password is changed, and you are signed out everywhere. Sign in with the new one.',
  'signed-out-everywhere': 'You are signed out everywhere.',
  'profile-saved': 'Your profile is saved.',
  'two-factor-off': 'Two-factor is off.',
  'device-signed-out': 'That device is signed out.',
  'roles-saved': 'The roles are saved.',
  unlocked: 'The account is unlocked.',
  'two-factor-reset': 'Two-factor is reset: the password alone signs in.',
  'user-signed-out': 'The user is signed out everywhere.',
  'product-created': 'The product is created.',
  'product-saved': 'The product is saved.',
  'product-restored': 'The product is back.',
} as const

export type Notice = keyof typeof notices

export function noticeOf(name: unknown): string | undefined {
  return typeof name === 'string' && Object.hasOwn(notices, name) ? notices[name as Notice] : undefined
}

/** The address of a page that says so. */
export function withNotice(path: string, notice: Notice): string {
  return `${path}${path.includes('?') ? '&' : '?'}done=${notice}`
}
