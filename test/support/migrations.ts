import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import type { OpenOptions } from '../../src/platform/database/open.ts'
import { temporaryFolder } from './databases.ts'

/** The migrations of the service itself and of its own features. */
export const ownMigrations = declaredBy(ownFeatures).migrations

/** Writes migrations for both engines into `folder` and returns it. A single text is used for both. */
export function writeMigrations(folder: string, files: Record<string, string | Record<Dialect, string>>): string {
  for (const engine of ['sqlite', 'postgres'] as const) {
    mkdirSync(join(folder, engine), { recursive: true })
    for (const [name, sql] of Object.entries(files)) {
      writeFileSync(join(folder, engine, `${name}.sql`), typeof sql === 'string' ? sql : sql[engine])
    }
  }
  return folder
}

/** The migrations before the first of these names, as in an earlier version. */
export function migrationsBefore(t: Pick<TestContext, 'after'>, first: string): string {
  const folder = temporaryFolder(t)
  for (const { path } of ownMigrations) {
    cpSync(path, folder, {
      recursive: true,
      filter: (file) => !file.endsWith('.sql') || basename(file) < first,
    })
  }
  return folder
}

export type TestOpenOptions = Omit<Partial<OpenOptions>, 'migrations'> & {
  url: string
  /** A folder, or several. */
  migrations: string | OpenOptions['migrations']
}

export function openOptions({ migrations, ...options }: TestOpenOptions): OpenOptions {
  return {
    root: '/',
    poolSize: 10,
    statementTimeoutSeconds: 30,
    clock: systemClock,
    random: systemRandom,
    ...options,
    migrations: typeof migrations === 'string' ? [{ path: migrations }] : migrations,
  }
}
