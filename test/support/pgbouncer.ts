/** A PgBouncer of a test's own, in front of a PostgreSQL server. It is ended after the test. */
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registerProcess, startDaemon } from './run-folder.ts'
import { findPgBouncer, freePort, isReachable, unprivilegedUser, waitUntil } from './servers.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

export interface PgBouncer {
  /** The server's URL through PgBouncer. It serves all of its databases. */
  url: string
  /** Changes the mode while it runs. */
  setMode(mode: PoolMode): void
}

/** Apart from `more`, all settings that a new connection could notice are the default ones. */
export async function startPgBouncer(
  t: { after(work: () => void): void },
  serverUrl: string,
  mode: PoolMode,
  more: Readonly<Record<string, string | number>> = {},
): Promise<PgBouncer> {
  const runFolder = process.env.TEST_RUN_FOLDER ?? tmpdir()
  const folder = mkdtempSync(join(runFolder, 'pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  const server = new URL(serverUrl)
  const port = await freePort()
  const target = `host=${server.hostname} port=${server.port} user=${server.username}`
  const write = (poolMode: PoolMode) => {
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: poolMode,
      ...more,
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
    writeFileSync(file, `[databases]\n* = ${target}\n\n[pgbouncer]\n${lines.join('\n')}\n`)
  }
  write(mode)
  const owner = unprivilegedUser()
  if (owner) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid)
  const pid = startDaemon(folder, findPgBouncer(), ['-q', file], { ...owner, cwd: folder })
  const forget = registerProcess(runFolder, pid)
  t.after(() => {
    process.kill(pid, 'SIGKILL')
    forget()
  })
  await waitUntil(() => isReachable(port), 'PgBouncer')
  server.port = String(port)
  return {
    url: server.href,
    setMode(poolMode) {
      write(poolMode)
      process.kill(pid, 'SIGHUP')
    },
  }
}
