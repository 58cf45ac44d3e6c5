/** Runs on the worker threads of passwords.ts. */
import { hashSync, verifySync } from '@node-rs/bcrypt'

export type Task =
  | { kind: 'hash'; password: string; cost: number }
  | { kind: 'verify'; password: string; hash: string; times: number }

export function runTask(task: Task): string | boolean {
  if (task.kind === 'hash') return hashSync(task.password, task.cost)
  let isRight = false
  for (let i = 0; i < task.times; i++) isRight = verifySync(task.password, task.hash)
  return isRight
}
