/** Migrated databases that tests copy: a SQLite file, and a database on the PostgreSQL server. */
import { join } from 'node:path'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { root } from '../../src/config/root.ts'
import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { runOnServer } from '../../src/testing/databases.ts'

export interface Templates {
  /** Variables that src/testing/databases.ts reads. */
  environment: Record<string, string>
  remove(): Promise<void>
}

export async function createTemplates(folder: string, server: string | undefined): Promise<Templates> {
  const file = join(folder, 'template.db')
  await migrate(`file:${file}`)
  if (server === undefined) return { environment: { TEST_TEMPLATE_FILE: file }, remove: async () => {} }
  // A given server may be used by several runs at once.
  const name = `template_${systemRandom.bytes(8).toString('hex')}`
  await runOnServer(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  await migrate(url.href)
  return {
    environment: { TEST_TEMPLATE_FILE: file, TEST_TEMPLATE_DATABASE: name },
    remove: () => runOnServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

async function migrate(url: string): Promise<void> {
  const { db } = await openDatabase({
    url,
    root,
    poolSize: 1,
    statementTimeoutSeconds: 60,
    ...declaredBy(ownFeatures),
    clock: systemClock,
    random: systemRandom,
  })
  await db.close()
}
