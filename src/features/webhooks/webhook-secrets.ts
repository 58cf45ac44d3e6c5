/** The secrets of an endpoint: the present one, and those before it that sign along for a while. */
import type { Encryption } from '../../platform/secrets/encryption.ts'

/** Encrypted. Times are Unix seconds. */
export interface StoredSecrets {
  secret: string
  /** One as it is, several as a JSON list. */
  previous_secret: string | null
  /** Of the one that was replaced last. */
  previous_until: number | null
}

interface PreviousSecret {
  secret: string
  until: number
}

/** Beyond so many, the oldest is dropped: each is a signature in the headers of a message. */
const maxPrevious = 10

function previousOf({ previous_secret: stored, previous_until: until }: StoredSecrets): PreviousSecret[] {
  if (stored === null || until === null) return []
  return stored.startsWith('[') ? (JSON.parse(stored) as PreviousSecret[]) : [{ secret: stored, until }]
}

function toStored(secret: string, previous: readonly PreviousSecret[]): StoredSecrets {
  const [first] = previous
  return {
    secret,
    previous_secret: previous.length > 1 ? JSON.stringify(previous) : (first?.secret ?? null),
    previous_until: first?.until ?? null,
  }
}

/** What is stored when the secret is replaced. The one before signs along until then, as do those before it until their time. */
export function replacedBy(secret: string, before: StoredSecrets, { now, until }: { now: number; until: number }) {
  const live = previousOf(before).filter((each) => each.until > now)
  return toStored(secret, [{ secret: before.secret, until }, ...live].slice(0, maxPrevious))
}

/** Returns which of them sign at a time. Throws if the present one cannot be decrypted. */
export function decryptSecrets(stored: StoredSecrets, { decrypt }: Pick<Encryption, 'decrypt'>) {
  const current = decrypt(stored.secret).text
  const previous = previousOf(stored).flatMap(({ secret, until }) => {
    try {
      return [{ text: decrypt(secret).text, until }]
    } catch {
      // Encrypted with a key that is gone. Receivers that know the present one still verify.
      return []
    }
  })
  return (now: number): string[] => [current, ...previous.filter(({ until }) => until > now).map(({ text }) => text)]
}

/** Undefined if all of them are encrypted with the present key. Throws if the present one cannot be decrypted. */
export function reEncrypted(stored: StoredSecrets, encryption: Encryption): StoredSecrets | undefined {
  let isOutdated = false
  const renew = (secret: string): string => {
    const found = encryption.decrypt(secret)
    isOutdated ||= found.isOutdated
    return found.isOutdated ? encryption.encrypt(found.text) : secret
  }
  const current = renew(stored.secret)
  const previous = previousOf(stored).map(({ secret, until }) => {
    try {
      return { secret: renew(secret), until }
    } catch {
      return { secret, until }
    }
  })
  return isOutdated ? toStored(current, previous) : undefined
}
