/** Runs a benchmark on SQLite and on PostgreSQL, both durable. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRunFolder } from '../../test/support/run-folder.ts'
import { startPostgres } from '../../test/support/servers.ts'
import type { Result } from './benchmark.ts'
import { createPostgresDatabase } from './dataset.ts'

export interface Engine {
  name: 'SQLite' | 'PostgreSQL'
  /** Returns the URL of a new, empty database. */
  createDatabase(): Promise<string>
}

export async function onEachEngine(measure: (engine: Engine) => Promise<Result[]>): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const runFolder = createRunFolder()
  let files = 0
  try {
    const server = await startPostgres(runFolder.path, { fsync: 'on', full_page_writes: 'on', shared_buffers: '512MB' })
    const onFile = async () => `file:${join(folder, `bench-${++files}.db`)}`
    return [
      ...(await measure({ name: 'SQLite', createDatabase: onFile })),
      ...(await measure({ name: 'PostgreSQL', createDatabase: () => createPostgresDatabase(server) })),
    ]
  } finally {
    await runFolder.remove()
    rmSync(folder, { recursive: true })
  }
}
