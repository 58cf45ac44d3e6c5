/** A Redis or PostgreSQL of a test's own, which it may freeze and kill. It goes with the test. */
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { registerProcess } from './run-folder.ts'
import { type Started, startPostgresProcess, startRedis } from './servers.ts'

export interface PrivateServer {
  url: string
  /** Stops all of its processes where they are: connections stay open, and nothing is answered. */
  freeze(): void
  thaw(): void
  kill(): void
}

export async function startPrivateRedis(t: TestContext): Promise<PrivateServer> {
  return own(t, await startRedis(ownFolder()))
}

export async function startPrivatePostgres(
  t: TestContext,
  settings: Record<string, string> = {},
): Promise<PrivateServer> {
  return own(t, await startPostgresProcess(ownFolder(), settings))
}

const runFolder = process.env.TEST_RUN_FOLDER ?? tmpdir()

/** Goes with the folder of the run: a server that was killed may take a moment to leave it. */
function ownFolder(): string {
  const folder = mkdtempSync(join(runFolder, 'server-'))
  chmodSync(folder, 0o755)
  return folder
}

function own(t: TestContext, { url, pid }: Started): PrivateServer {
  const forget = registerProcess(runFolder, pid)
  let frozen: number[] = []
  const server: PrivateServer = {
    url,
    freeze() {
      // The first one first: it can start no further ones then.
      signal([pid], 'SIGSTOP')
      frozen = [pid, ...childrenOf(pid)]
      signal(frozen, 'SIGSTOP')
    },
    thaw() {
      signal(frozen.splice(0).reverse(), 'SIGCONT')
    },
    kill() {
      signal([...childrenOf(pid), pid], 'SIGKILL')
      forget()
    },
  }
  t.after(() => server.kill())
  return server
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended by itself.
    }
  }
}
