/** Whose failed attempts are counted together. A lock that strangers set reaches neither a known device nor a session. */
import { hash } from 'node:crypto'
import { isPossibleEmail } from '../../core/email.ts'

export interface AttemptSubject {
  /** The key of its counter. No key of one kind can be had by another: only these hold a space. */
  key: string
  /** The owner of the device or session; null for strangers, who are counted by email. */
  userId: number | null
}

export const attemptSubjects = {
  /** Everybody who tries an email without a known device, whether or not the email is registered. */
  strangers: (email: string): AttemptSubject => ({ key: strangersKey(email), userId: null }),
  device: (id: string, userId: number): AttemptSubject => ({ key: `device ${id}`, userId }),
  session: (family: string, userId: number): AttemptSubject => ({ key: `session ${family}`, userId }),
}

/** Hashed where the text cannot be an address: it may be megabytes, or look like the key of another kind. */
export function strangersKey(email: string): string {
  return isPossibleEmail(email) && !email.includes(' ') ? email : `sha256 ${hash('sha256', email, 'hex')}`
}
