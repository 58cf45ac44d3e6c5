import type { Message } from '../../platform/mail/mail.ts'
import { tokenMessage } from '../../platform/mail/token-message.ts'

interface MailedToken {
  to: string
  token: string
  publicUrl: string | undefined
}

export function resetMessage({ to, token, publicUrl }: MailedToken): Message {
  return tokenMessage({
    to,
    subject: 'Your new password',
    intro: 'Somebody asked for a new password for this account. If it was you, use this within an hour:',
    link: publicUrl && `${publicUrl}/console/password/reset?token=${token}`,
    label: 'Reset token',
    token,
    outro: 'If it was not you, there is nothing to do: your password stays as it is.',
  })
}

export function verificationMessage({ to, token, publicUrl }: MailedToken): Message {
  return tokenMessage({
    to,
    subject: 'Confirm your address',
    intro: 'Please confirm that this is your address, within a day:',
    link: publicUrl && `${publicUrl}/console/verify?token=${token}`,
    label: 'Verification token',
    token,
    outro: 'If you have not registered, there is nothing to do.',
  })
}
