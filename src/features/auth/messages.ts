/** The mails of signing in. Links are made from the configured address, never from a request's Host header. */
import type { Message } from '../../platform/mail/mail.ts'

interface Given {
  to: string
  token: string
  publicUrl: string | undefined
}

export function resetMessage({ to, token, publicUrl }: Given): Message {
  const link = publicUrl && `${publicUrl}/console/password/reset?token=${token}`
  const text = [
    'Somebody asked for a new password for this account. If it was you, use this within an hour:',
    '',
    ...(link ? [link, ''] : []),
    `Reset token: ${token}`,
    '',
    'If it was not you, there is nothing to do: your password stays as it is.',
  ].join('\n')
  return { to, subject: 'Your new password', text }
}

export function verificationMessage({ to, token, publicUrl }: Given): Message {
  const link = publicUrl && `${publicUrl}/console/verify?token=${token}`
  const text = [
    'Please confirm that this is your address, within a day:',
    '',
    ...(link ? [link, ''] : []),
    `Verification token: ${token}`,
    '',
    'If you have not registered, there is nothing to do.',
  ].join('\n')
  return { to, subject: 'Confirm your address', text }
}
