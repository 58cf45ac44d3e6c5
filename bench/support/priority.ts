import { spawnSync } from 'node:child_process'

/**
 * Does the work ahead of everything else on its core, where the machine allows that. Whoever measures must not wait for
 * what is measured: it would take its own waiting for that of the service.
 */
export async function firstInLine<T>(work: () => Promise<T>): Promise<T> {
  // With the threads that it may have to wait for, but without the processes that it starts.
  schedule('--reset-on-fork', '--fifo', '--all-tasks', '--pid', '1')
  try {
    return await work()
  } finally {
    schedule('--other', '--all-tasks', '--pid', '0')
  }
}

function schedule(...how: string[]): void {
  spawnSync('chrt', [...how, String(process.pid)], { stdio: 'ignore' })
}
