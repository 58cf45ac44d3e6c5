/** The mails of a change of address. Links are made from the configured address, never from a Host header. */
import type { Message } from '../../platform/mail/mail.ts'

export function confirmMessage(given: { to: string; token: string; publicUrl: string | undefined }): Message {
  const { to, token, publicUrl } = given
  const link = publicUrl && `${publicUrl}/console/email/confirm?token=${token}`
  const text = [
    'Somebody wants to sign in with this address from now on. If it was you, confirm it within a day:',
    '',
    ...(link ? [link, ''] : []),
    `Confirmation token: ${token}`,
    '',
    'If it was not you, there is nothing to do.',
  ].join('\n')
  return { to, subject: 'Confirm your new address', text }
}

export function changedMessage({ from, to }: { from: string; to: string }): Message {
  const text = [
    `Your account has a new address, ${to}. This one no longer signs in.`,
    '',
    'If it was not you, ask an administrator for help at once.',
  ].join('\n')
  return { to: from, subject: 'Your address was changed', text }
}
