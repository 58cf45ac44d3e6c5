/**
 * Brings users from before to how they are kept today: the email in the form that emails are compared in, and the key that
 * names are searched by. Both need what no engine's SQL has. A user without a key is one from before.
 */
import { isTooLong, normaliseEmail } from '../../core/email.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import { ConstraintError, type Database, type Statement } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log/logger.ts'

interface UserKeysDeps {
  db: Database
  log: Pick<Log, 'info' | 'warn'>
}

interface User {
  id: number
  email: string
}

interface Renaming {
  id: number
  from: string
  to: string
}

const everyMs = 60_000
const batch = 200

/**
 * Resolves when emails are in their form: before that, nobody may be served, since whoever came first could register the
 * email of another. Keys are filled in the background, over and over, since nodes of an earlier version may still add users.
 */
export async function startUserKeys({ db, log }: UserKeysDeps): Promise<{ close(): Promise<void> }> {
  const reported = new Set<number>()
  await normaliseEmails({ db, log }, reported)
  const work = () => fillKeys({ db, log }, reported)
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'bringing users up to date failed; it is tried again in a minute')
  const first = work().catch(onError)
  const repeated = startPeriodicTask({ everyMs, work, onError })
  return {
    async close() {
      await first
      await repeated.close()
    },
  }
}

/** Users whose email cannot be changed are kept as they are, and reported unless they are among `reported`. */
export async function normaliseEmails({ db, log }: UserKeysDeps, reported = new Set<number>()): Promise<void> {
  // Most often there is nobody, which an index tells.
  if (!(await db.get('SELECT id FROM users WHERE name_key IS NULL LIMIT 1'))) return
  let changed = 0
  for (let after = 0, isMore = true; isMore; ) {
    // What is in ASCII is in every form.
    const rows = await db.scan<User>(
      `SELECT id, email FROM users WHERE name_key IS NULL AND id > $1 AND octet_length(email) <> length(email)
       ORDER BY id LIMIT ${batch}`,
      [after],
    )
    changed += await normaliseSome({ db, log }, rows, reported)
    after = rows.at(-1)?.id ?? after
    isMore = rows.length === batch
  }
  if (changed > 0) log.info({ users: changed }, 'emails of users were brought to the form that emails are compared in')
}

/** Returns how many it changed. */
async function normaliseSome(deps: UserKeysDeps, users: readonly User[], reported: Set<number>): Promise<number> {
  const renamings = users
    .map(({ id, email }) => ({ id, from: email, to: normaliseEmail(email) }))
    .filter(({ id, from, to }) => from !== to && !reported.has(id))
  const kept = await rename(deps.db, renamings)
  for (const each of kept) await report(deps, each)
  for (const { id } of kept) reported.add(id)
  return renamings.length - kept.length
}

/** Returns those that could not be changed. */
async function rename(db: Database, renamings: readonly Renaming[]): Promise<readonly Renaming[]> {
  const possible = renamings.filter(({ to }) => !isTooLong(to))
  const tooLong = renamings.filter(({ to }) => isTooLong(to))
  if (possible.length === 0 || (await isTaken(db, possible.map(toStatement))) === false) return tooLong
  // Somebody's is taken, so each goes by itself: of two that become one, the older user gets it.
  const taken: Renaming[] = []
  for (const each of possible) if (await isTaken(db, [toStatement(each)])) taken.push(each)
  return [...taken, ...tooLong]
}

function toStatement({ id, from, to }: Renaming): Statement {
  return { sql: 'UPDATE users SET email = $1 WHERE id = $2 AND email = $3', params: [to, id, from] }
}

async function isTaken(db: Database, statements: readonly Statement[]): Promise<boolean> {
  try {
    await db.write(...statements)
    return false
  } catch (error) {
    if (error instanceof ConstraintError && error.kind === 'unique') return true
    throw error
  }
}

async function report({ db, log }: UserKeysDeps, { id, to }: Renaming): Promise<void> {
  const other = await db.get<{ id: number }>('SELECT id FROM users WHERE email = $1', [to])
  if (other) {
    const advice = `both are kept, and the email signs in user ${other.id}; give one of them another email`
    const line = `user ${id} has an email that is the same as that of user ${other.id} but for how it is written`
    log.warn({ userId: id, otherUserId: other.id }, `${line}: ${advice}`)
  } else log.warn({ userId: id }, `user ${id} has an email that is too long in the form that emails are compared in`)
}

async function fillKeys({ db, log }: UserKeysDeps, reported: Set<number>): Promise<void> {
  for (let isMore = true; isMore; ) {
    const rows = await db.all<User & { name: string }>(
      `SELECT id, email, name FROM users WHERE name_key IS NULL ORDER BY id LIMIT ${batch}`,
    )
    // With its key a user is not looked at again.
    await normaliseSome({ db, log }, rows, reported)
    const statements = rows.map(({ id, name }) => ({
      // A name that was changed meanwhile has its key.
      sql: 'UPDATE users SET name_key = $1 WHERE id = $2 AND name_key IS NULL',
      params: [lowerByCodePoint(name), id],
    }))
    if (statements.length > 0) await db.write(...statements)
    isMore = rows.length === batch
  }
}
