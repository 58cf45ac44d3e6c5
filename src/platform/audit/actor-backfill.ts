/**
 * Old audit entries have no actor_id; their outcome reads "success, by user 12". Queries translate them on the fly, and a
 * background task rewrites them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/logger.ts'

/** Events caused by another user or automatically. In all other events the actor is the user. */
const byOthers = `('lock', 'unlock', 'password_forgot', 'roles_changed', '2fa_reset', 'sessions_ended')`
const lastFormer = `(SELECT last_id FROM backfills WHERE name = 'audit_actors')`

/** The actor of a row of `audit AS a`, in the old form or the new. */
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

export interface ActorBackfillOptions {
  db: Database
  log: Pick<Log, 'info' | 'warn'>
}

/** Several nodes may run it: each batch is claimed by one of them and continues where the previous batch ended. */
export function startActorBackfill({ db, log }: ActorBackfillOptions): { close(): Promise<void> } {
  let isClosed = false
  let isDone = false

  async function work(): Promise<void> {
    let isLogged = false
    while (!isClosed && !isDone) {
      const progress = await db.get<Progress>(`SELECT done_to, last_id FROM backfills WHERE name = 'audit_actors'`)
      isDone = progress === undefined
      if (isLogged && isDone) log.info('the audit trail is up to date')
      if (!progress) return
      if (!isLogged) log.info(progress, 'bringing the audit trail up to date, in the background')
      isLogged = true
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
