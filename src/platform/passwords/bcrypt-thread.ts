/** Runs on a thread of the pool. */
import { hashSync, verifySync } from '@node-rs/bcrypt'

export type Task = { kind: 'hash'; password: string; cost: number } | { kind: 'verify'; password: string; hash: string }

export function runTask(task: Task): string | boolean {
  return task.kind === 'hash' ? hashSync(task.password, task.cost) : verifySync(task.password, task.hash)
}
