/** Migrated databases that tests copy: a SQLite file, and a database on the PostgreSQL server. */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'
import { systemRandom } from '../../src/core/random.ts'
import { runOnServer } from '../../src/testing/databases.ts'

export interface Templates {
  /** Variables that src/testing/databases.ts reads. */
  environment: Record<string, string>
  remove(): Promise<void>
}

export async function createTemplates(folder: string, server: string | undefined): Promise<Templates> {
  const file = join(folder, 'template.db')
  await provideFile(file)
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

/** Kept for the next run, which then has its first result sooner, as long as migrations stay as they are. */
async function provideFile(file: string): Promise<void> {
  const cache = join(root, 'node_modules', '.cache', 'templates')
  const known = join(cache, `${digestOfMigrations()}.db`)
  if (!existsSync(known)) {
    await migrate(`file:${file}`)
    mkdirSync(cache, { recursive: true })
    for (const name of readdirSync(cache)) if (name.endsWith('.db')) rmSync(join(cache, name), { force: true })
    const unfinished = `${known}.${process.pid}`
    copyFileSync(file, unfinished)
    renameSync(unfinished, known)
  } else copyFileSync(known, file)
}

/** Of all files that have a part in it. */
function digestOfMigrations(): string {
  const digest = createHash('sha256')
  for (const path of globSync(['src/**/migrations/sqlite/*.sql', 'src/platform/database/**/*.ts'], {
    cwd: root,
  }).sort()) {
    digest.update(path).update(readFileSync(join(root, path)))
  }
  return digest.digest('hex').slice(0, 16)
}

async function migrate(url: string): Promise<void> {
  const [{ declaredBy }, { ownFeatures }, { openDatabase }, { systemClock }] = await Promise.all([
    import('../../src/app/declarations.ts'),
    import('../../src/app/features.ts'),
    import('../../src/platform/database/open.ts'),
    import('../../src/core/clock.ts'),
  ])
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
