/**
 * Migrates users of older versions: normalises the email and adds the key for name searches. Not in SQL, because neither
 * engine has the functions. Such users are recognised by their missing key.
 */
import { isTooLong, normaliseEmail } from '../../core/email.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log/logger.ts'
import { batch, createUserKeyStore, type KeylessUser, type Renaming, type UserKeyStore } from './user-keys.store.ts'

interface UserKeysDeps {
  db: Database
  log: Pick<Log, 'info' | 'warn'>
}

interface Work {
  store: UserKeyStore
  log: UserKeysDeps['log']
  /** Users whose email could not be changed; each is logged once. */
  reported: Set<number>
}

const everyMs = 60_000

/**
 * Resolves when emails are normalised. Requests must not be served before that, because somebody could register the email
 * of an existing user. Keys are filled in the background, periodically, because nodes of an older version may still add users.
 */
export async function startUserKeys(deps: UserKeysDeps): Promise<{ close(): Promise<void> }> {
  const { log } = deps
  const given = workOf(deps)
  await normaliseAll(given)
  const work = () => fillKeys(given)
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

/** Users whose email cannot be changed are left as they are, and logged. */
export async function normaliseEmails(deps: UserKeysDeps): Promise<void> {
  await normaliseAll(workOf(deps))
}

function workOf({ db, log }: UserKeysDeps): Work {
  return { store: createUserKeyStore(db), log, reported: new Set() }
}

async function normaliseAll(work: Work): Promise<void> {
  const { store, log } = work
  if (!(await store.hasKeyless())) return
  let changed = 0
  for (let after = 0, isMore = true; isMore; ) {
    const rows = await store.listForeign(after)
    changed += await normaliseSome(work, rows)
    after = rows.at(-1)?.id ?? after
    isMore = rows.length === batch
  }
  if (changed > 0) log.info({ users: changed }, 'emails of users were brought to the form that emails are compared in')
}

/** Returns how many it changed. */
async function normaliseSome(work: Work, users: readonly KeylessUser[]): Promise<number> {
  const { store, reported } = work
  const renamings = users
    .map(({ id, email }) => ({ id, from: email, to: normaliseEmail(email) }))
    .filter(({ id, from, to }) => from !== to && !reported.has(id))
  const kept = await rename(store, renamings)
  for (const each of kept) await report(work, each)
  for (const { id } of kept) reported.add(id)
  return renamings.length - kept.length
}

/** Returns those that could not be changed. */
async function rename(store: UserKeyStore, renamings: readonly Renaming[]): Promise<readonly Renaming[]> {
  const possible = renamings.filter(({ to }) => !isTooLong(to))
  const tooLong = renamings.filter(({ to }) => isTooLong(to))
  if (possible.length === 0 || (await store.rename(possible))) return tooLong
  // One is taken, so they are renamed one by one: of two that become equal, the older user gets the email.
  const taken: Renaming[] = []
  for (const each of possible) if (!(await store.rename([each]))) taken.push(each)
  return [...taken, ...tooLong]
}

async function report({ store, log }: Work, { id, to }: Renaming): Promise<void> {
  const other = await store.findByEmail(to)
  if (other) {
    const advice = `both are kept, and the email signs in user ${other.id}; give one of them another email`
    const line = `user ${id} has an email that is the same as that of user ${other.id} but for how it is written`
    log.warn({ userId: id, otherUserId: other.id }, `${line}: ${advice}`)
  } else log.warn({ userId: id }, `user ${id} has an email that is too long in the form that emails are compared in`)
}

async function fillKeys(work: Work): Promise<void> {
  for (let isMore = true; isMore; ) {
    const rows = await work.store.listKeyless()
    // Before the key is set, because users with a key are not visited again.
    await normaliseSome(work, rows)
    await work.store.setKeys(rows)
    isMore = rows.length === batch
  }
}
