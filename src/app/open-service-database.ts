/** Opens the database with the migrations and counted lists of the features. */
import { isCollection } from '../collections/collection.ts'
import type { CoreConfig } from '../config/config.ts'
import { root } from '../config/root.ts'
import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import { beginningOf, watchChangingTexts } from '../platform/database/changing-texts.ts'
import { type OpenOptions, openDatabase } from '../platform/database/open.ts'
import type { Feature } from '../platform/feature.ts'
import type { Log } from '../platform/log/logger.ts'
import type { ProcessParts } from '../platform/threads/process-parts.ts'
import { declaredBy } from './declarations.ts'
import { connectionsPerThread } from './threads/count.ts'

export interface ServiceDatabaseOptions
  extends Pick<OpenOptions, 'observe' | 'connectThreads' | 'isMigrated' | 'onWriterDeath'>,
    Partial<Pick<OpenOptions, 'poolSize'>>,
    Partial<Pick<ProcessParts, 'claimOnce'>> {
  config: CoreConfig
  log: Log
  features: readonly Feature[]
  clock: Clock
  random: Random
  /** False in commands: a database fault ends them. */
  isServing: boolean
}

export async function openServiceDatabase(options: ServiceDatabaseOptions) {
  const { config, log, features, isServing, claimOnce, ...rest } = options
  const database = { ...config.database, poolSize: 1, root, clock: rest.clock, random: rest.random }
  if (!rest.isMigrated && features.some(isCollection)) {
    const { syncCollections } = await import('./collections-schema.ts')
    await syncCollections({
      features,
      database,
      isServing,
      isDevelopment: config.isDevelopment,
      onWritten: (migration) => log.info(`wrote ${migration}, because a collection was declared or has new fields`),
    })
  }
  const declared = declaredBy(features)
  const opened = await openDatabase({
    ...config.database,
    poolSize: connectionsPerThread(config.database.poolSize, 1),
    root,
    migrations: declared.migrations,
    countedLists: declared.countedLists,
    onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
    faultLog: isServing ? log : undefined,
    // Commands print warnings only, and a person at a terminal should see why it takes long.
    onLongWork: (line) => (isServing ? log.info(line) : log.warn(line)),
    ...rest,
  })
  if (opened.applied.length > 0) log.info({ applied: opened.applied }, 'migrations applied')
  if (!config.isDevelopment || !isServing || !claimOnce) return { ...opened, declared }
  const db = watchChangingTexts(opened.db, (sql) => {
    if (claimOnce('changing-sql-text')) log.warn(adviceOn(sql))
  })
  return { ...opened, db, declared }
}

function adviceOn(sql: string): string {
  return (
    `the SQL text "${beginningOf(sql)}" is not constant: it has been sent in many variants, and each is prepared anew. ` +
    'Pass values as parameters, and a list as one parameter, with idIsListed and toIdList; see "SQL" in docs/extensions.md'
  )
}
