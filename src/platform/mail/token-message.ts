/** Mails that contain a single-use token. */
import type { Message } from './mail.ts'

export interface TokenMessage {
  to: string
  subject: string
  /** What the token is for, and until when it works. Ends with a colon. */
  intro: string
  /** Starts with the configured address, never with a Host header, which anybody can set. Undefined without one. */
  link: string | undefined
  /** What the API calls the token, such as `Reset token`. */
  label: string
  token: string
  /** For recipients who asked for nothing. */
  outro: string
}

export function tokenMessage({ to, subject, intro, link, label, token, outro }: TokenMessage): Message {
  const text = [intro, '', ...(link ? [link, ''] : []), `${label}: ${token}`, '', outro].join('\n')
  return { to, subject, text }
}
