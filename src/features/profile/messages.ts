/** Mails about a changed email address. */
import type { Message } from '../../platform/mail/mail.ts'
import { tokenMessage } from '../../platform/mail/token-message.ts'

export function confirmMessage(given: { to: string; token: string; publicUrl: string | undefined }): Message {
  const { to, token, publicUrl } = given
  return tokenMessage({
    to,
    subject: 'Confirm your new address',
    intro: 'Somebody wants to sign in with this address from now on. If it was you, confirm it within a day:',
    link: publicUrl && `${publicUrl}/console/email/confirm?token=${token}`,
    label: 'Confirmation token',
    token,
    outro: 'If it was not you, there is nothing to do.',
  })
}

export function changedMessage({ from, to }: { from: string; to: string }): Message {
  const text = [
    `Your account has a new address, ${to}. This one no longer signs in.`,
    '',
    'If it was not you, ask an administrator for help at once.',
  ].join('\n')
  return { to: from, subject: 'Your address was changed', text }
}
