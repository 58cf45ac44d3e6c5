import type { Message } from '../../platform/mail/mail.ts'

export interface LockMessageOptions {
  to: string
  /** Both in Unix seconds. */
  lockedAt: number
  lockedUntil: number
  publicUrl: string | undefined
}

/** The link starts with the configured address, never with a Host header, which anybody can set. */
export function lockMessage({ to, lockedAt, lockedUntil, publicUrl }: LockMessageOptions): Message {
  const text = [
    'There were too many wrong passwords or codes for your account, from devices that never signed in to it.',
    `On ${inUtc(lockedAt)} it was locked for such devices. The lock ends by itself on ${inUtc(lockedUntil)}.`,
    '',
    'What it means: somebody tried to sign in as you, or you did on a new device. Nobody got in by these attempts.',
    'Devices on which you signed in before still work, and you stay signed in where you are.',
    '',
    'What to do: if it was you, wait until the lock ends, or use a device that you have used before.',
    'If it was not you, and your password is short, old or used elsewhere too, change it on such a device.',
    ...(publicUrl ? ['', `${publicUrl}/console/account`] : []),
    '',
    'You get this message at most once a day, however often it happens.',
  ].join('\n')
  return { to, subject: 'Your account was locked for unknown devices', text }
}

function inUtc(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' at ')} UTC`
}
