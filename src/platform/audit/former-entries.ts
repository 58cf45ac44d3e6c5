/**
 * Entries of the trail from before it had actors: who did it stood in the outcome, "success, by user 12". They are read
 * as if they were of today, and made so in the background.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/logger.ts'

/** What others do to a user, or happens by itself. The rest a user does to the own account. */
const byOthers = `('lock', 'unlock', 'password_forgot', 'roles_changed', '2fa_reset', 'sessions_ended')`
const lastFormer = `(SELECT last_id FROM backfills WHERE name = 'audit_actors')`

/** The actor of a row of `audit AS a`, whether or not it is of today's form. */
export const actorColumn = `
  CASE WHEN a.actor_id IS NOT NULL THEN a.actor_id
       WHEN a.outcome LIKE 'success, by user %' THEN CAST(substr(a.outcome, 18) AS BIGINT)
       WHEN a.outcome = 'success' AND a.id <= ${lastFormer} AND a.event NOT IN ${byOthers} THEN a.user_id END`
export const outcomeColumn = `CASE WHEN a.outcome LIKE 'success, by %' THEN 'success' ELSE a.outcome END`

const everyMs = 60_000
const batch = 500
const pauseMs = 20

interface Progress {
  done_to: number
  last_id: number
}

export interface FormerEntriesOptions {
  db: Database
  log: Pick<Log, 'info' | 'warn'>
}

/** Any number of nodes may be at it: each batch is done by one of them, and goes on where the last one ended. */
export function startFormerEntries({ db, log }: FormerEntriesOptions): { close(): Promise<void> } {
  let isClosed = false
  let isDone = false

  async function work(): Promise<void> {
    let isTold = false
    while (!isClosed && !isDone) {
      const progress = await db.get<Progress>(`SELECT done_to, last_id FROM backfills WHERE name = 'audit_actors'`)
      isDone = progress === undefined
      if (isTold && isDone) log.info('the audit trail is up to date')
      if (!progress) return
      if (!isTold) log.info(progress, 'bringing the audit trail up to date, in the background')
      isTold = true
      await updateSome(db, progress)
      await sleep(pauseMs)
    }
  }

  const onError = (error: unknown) =>
    log.warn({ err: error }, 'bringing the audit trail up to date failed; it is tried again in a minute')
  const first = work().catch(onError)
  const repeated = startPeriodicTask({ everyMs, work, onError })
  return {
    async close() {
      isClosed = true
      await first
      await repeated.close()
    },
  }
}

async function updateSome(db: Database, { done_to, last_id }: Progress): Promise<void> {
  const next = await db.get<{ id: number | null }>(
    `SELECT max(id) AS id FROM (SELECT id FROM audit WHERE id > $1 AND id <= $2 ORDER BY id LIMIT ${batch}) AS part`,
    [done_to, last_id],
  )
  if (!next || next.id === null) {
    await db.write({ sql: `DELETE FROM backfills WHERE name = 'audit_actors'` })
    return
  }
  await db.write(
    {
      sql: `UPDATE backfills SET done_to = $1 WHERE name = 'audit_actors' AND done_to = $2 RETURNING name`,
      params: [next.id, done_to],
      decides: true,
    },
    {
      sql: `UPDATE audit AS a SET actor_id = ${actorColumn}, outcome = ${outcomeColumn}
            WHERE a.id > $1 AND a.id <= $2 AND a.actor_id IS NULL AND a.outcome LIKE 'success%'`,
      params: [done_to, next.id],
    },
  )
}
