import type { Message } from '../../platform/mail/mail.ts'
import { tokenMessage } from '../../platform/mail/token-message.ts'

export function invitationMessage(given: { to: string; link: string; token: string }): Message {
  return tokenMessage({
    ...given,
    subject: 'Your invitation',
    intro: 'You are invited. Choose a password within seven days, then sign in with this address:',
    label: 'Invitation token',
    outro: 'If you do not know what this is about, there is nothing to do.',
  })
}
