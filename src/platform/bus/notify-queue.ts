/**
 * Sends notifications in batches: while one statement is under way, the next values are collected. A transaction for each
 * would take a lock on all databases of the server for each.
 */

export interface Notification {
  channel: string
  payloads: readonly string[]
}

interface Waiting extends Notification {
  resolve(): void
  reject(error: unknown): void
}

export const notifySql =
  'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS each (channel, payload)'

/** Enough for few round trips, and a statement of well under a tenth of a second. */
const maxPayloadsAtOnce = 256

/** `send` runs `notifySql` with these values. */
export function createNotifyQueue(send: (channels: string[], payloads: string[]) => Promise<unknown>) {
  const waiting: Waiting[] = []
  let isSending = false

  async function sendAll(): Promise<void> {
    if (isSending) return
    isSending = true
    while (waiting.length > 0) {
      const batch = takeBatch()
      try {
        const payloads = batch.flatMap((each) => each.payloads)
        await send(
          batch.flatMap((each) => each.payloads.map(() => each.channel)),
          payloads,
        )
        for (const each of batch) each.resolve()
      } catch (error) {
        // What waits behind has waited as long, and the connection may be lost.
        for (const each of [...batch, ...waiting.splice(0)]) each.reject(error)
      }
    }
    isSending = false
  }

  /** Of equal notifications in one transaction the server delivers one, so a value that is there twice waits. */
  function takeBatch(): Waiting[] {
    const seen = new Set<string>()
    let count = 0
    let length = 0
    for (const { channel, payloads } of waiting) {
      const keys = payloads.map((payload) => `${channel} ${payload}`)
      count += payloads.length
      if (length > 0 && (count > maxPayloadsAtOnce || keys.some((each) => seen.has(each)))) break
      for (const each of keys) seen.add(each)
      length += 1
    }
    return waiting.splice(0, length)
  }

  return (notification: Notification) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ ...notification, resolve, reject })
      void sendAll()
    })
}
