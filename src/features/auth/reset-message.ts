import type { Message } from '../../platform/mail/mail.ts'

/** The link uses the configured address, never the Host header, which an attacker can set. */
export function resetMessage(given: { to: string; token: string; publicUrl: string | undefined }): Message {
  const { to, token, publicUrl } = given
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
