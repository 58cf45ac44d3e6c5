/** A private Redis or PostgreSQL that a test may freeze and kill. It is removed after the test. */
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { childrenOf, killTree, signal } from './process-tree.ts'
import { registerProcess } from './run-folder.ts'
import { type Started, startPostgresProcess, startRedis, startStandbyProcess } from './servers.ts'

export interface PrivateServer {
  url: string
  /** Pauses all of its processes: connections stay open, but nothing responds. */
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

/** A streaming standby of a private PostgreSQL. */
export async function startPrivateStandby(
  t: TestContext,
  primary: PrivateServer,
  settings: Record<string, string> = {},
): Promise<PrivateServer> {
  return own(t, await startStandbyProcess(ownFolder(), primary.url, settings))
}

const runFolder = process.env.TEST_RUN_FOLDER ?? tmpdir()

/** Removed with the folder of the run: a killed server may take a moment to release it. */
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
      // The parent first, so that it cannot start further ones.
      signal([pid], 'SIGSTOP')
      frozen = [pid, ...childrenOf(pid)]
      signal(frozen, 'SIGSTOP')
    },
    thaw() {
      signal(frozen.splice(0).reverse(), 'SIGCONT')
    },
    kill() {
      killTree(pid)
      forget()
    },
  }
  t.after(() => server.kill())
  return server
}
