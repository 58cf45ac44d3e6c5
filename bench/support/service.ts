import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchServer, type ServerOptions, startServer } from './load.ts'

/** Starts a script of bench/servers on a new SQLite file, unless another database is given. Logs only warnings. */
export async function startService(
  script: string,
  env: Record<string, string> = {},
  options?: ServerOptions,
): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const defaults = {
    DATABASE_URL: `file:${folder}/bench.db`,
    HOST: '127.0.0.1',
    PORT: '0',
    GQL_WS_HOST: '127.0.0.1',
    GQL_WS_PORT: '0',
    LOG_LEVEL: 'warn',
    JWT_SECRET: 'a secret for the benchmarks, nothing else',
  }
  const server = await startServer(script, { ...defaults, ...env }, options)
  return {
    ...server,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
