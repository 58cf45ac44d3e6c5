import { spawnSync } from 'node:child_process'

/**
 * Does the work ahead of everything else on its core, where the machine allows that. Whoever measures must not wait for
 * what is measured: it would take its own waiting for that of the service.
 */
export async function firstInLine<T>(work: () => Promise<T>): Promise<T> {
  // Not passed on to the processes that it starts.
  schedule('--reset-on-fork', '--fifo', '--pid', '1')
  try {
    return await work()
  } finally {
    schedule('--other', '--pid', '0')
  }
}

function schedule(...how: string[]): void {
  spawnSync('chrt', [...how, String(process.pid)], { stdio: 'ignore' })
}
