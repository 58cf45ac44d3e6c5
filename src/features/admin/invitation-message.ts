/** The mail of an invitation. Its link is made from the configured address, never from a request's Host header. */
import type { Message } from '../../platform/mail/mail.ts'

export function invitationMessage({ to, link, token }: { to: string; link: string; token: string }): Message {
  const text = [
    'You are invited. Choose a password within seven days, then sign in with this address:',
    '',
    link,
    '',
    `Invitation token: ${token}`,
    '',
    'If you do not know what this is about, there is nothing to do.',
  ].join('\n')
  return { to, subject: 'Your invitation', text }
}
