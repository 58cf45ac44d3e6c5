/**
 * Brings users from before to how they are kept today: the key that names are searched by, and the email in the form that
 * emails are compared in. Both need what no engine's SQL has. Goes on in the background, since nodes of an earlier
 * version may still add users.
 */
import { normaliseEmail } from '../../core/email.ts'
import { repeat } from '../../core/repeat.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import { ConstraintError, type Database } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log/logger.ts'

interface Row {
  id: number
  email: string
  name: string
}

const everyMs = 60_000
const batch = 200

export function startUserKeys({ db, log }: { db: Database; log: Log }): { close(): Promise<void> } {
  const work = () => fillUserKeys({ db, log })
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'bringing users up to date failed; it is tried again in a minute')
  const first = work().catch(onError)
  const repeated = repeat({ everyMs, work, onError })
  return {
    async close() {
      await first
      await repeated.close()
    },
  }
}

async function fillUserKeys({ db, log }: { db: Database; log: Log }): Promise<void> {
  for (let isMore = true; isMore; ) {
    const rows = await db.all<Row>(
      `SELECT id, email, name FROM users WHERE name_key IS NULL ORDER BY id LIMIT ${batch}`,
    )
    for (const row of rows) await normalise({ db, log }, row)
    const statements = rows.map(({ id, name }) => ({
      // A name that was changed meanwhile has its key.
      sql: 'UPDATE users SET name_key = $1 WHERE id = $2 AND name_key IS NULL',
      params: [lowerByCodePoint(name), id],
    }))
    if (statements.length > 0) await db.write(...statements)
    isMore = rows.length === batch
  }
}

async function normalise({ db, log }: { db: Database; log: Log }, { id, email }: Row): Promise<void> {
  const normalised = normaliseEmail(email)
  if (normalised === email) return
  try {
    await db.write({ sql: 'UPDATE users SET email = $1 WHERE id = $2 AND email = $3', params: [normalised, id, email] })
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error
    log.warn({ userId: id }, 'this user has an email that is the same as another’s but for how it is written')
  }
}
