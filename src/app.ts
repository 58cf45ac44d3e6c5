/** The composition root: the only file that knows every part. */
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import { root } from './config/root.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { type Random, systemRandom } from './core/random.ts'
import type { Database } from './platform/database/database.ts'
import { openDatabase } from './platform/database/open.ts'
import { createHttpServer } from './platform/http/server.ts'
import type { Log } from './platform/log/logger.ts'
import { createMetrics } from './platform/metrics/metrics.ts'
import { openRedis } from './platform/redis/redis.ts'

export interface AppOptions {
  config: Config
  log: Log
  clock?: Clock
  random?: Random
  /** A folder with a folder of migrations for each engine. */
  migrations?: string
  /** Routes beside the service's own. */
  extend?: (app: FastifyInstance, parts: { db: Database }) => void | Promise<void>
}

export interface App {
  /** Serves, and answers the address it serves on. */
  listen(): Promise<{ url: string }>
  close(): Promise<void>
}

export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, clock = systemClock, random = systemRandom } = options
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const metrics = createMetrics()
    const reads = metrics.databaseSeries({ operation: 'read' })
    const writes = metrics.databaseSeries({ operation: 'write' })
    const { db, applied } = await openDatabase({
      ...config.database,
      root,
      migrations: options.migrations ?? join(root, 'migrations'),
      clock,
      random,
      onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
      observe: (operation, ms) => (operation === 'read' ? reads : writes).observe(ms / 1000),
    })
    closers.push(() => db.close())
    if (applied.length > 0) log.info({ applied }, 'migrations applied')

    const redis = config.redis.url === undefined ? undefined : await openRedis(config.redis.url, log)
    if (redis) closers.push(() => redis.close())

    const http = await createHttpServer({
      ...config.server,
      log,
      random,
      metrics,
      checks: {
        database: () => db.get('SELECT 1 AS ok'),
        ...(redis && { redis: () => redis.ping() }),
      },
    })
    closers.push(() => http.close())
    await options.extend?.(http.app, { db })
    await http.app.ready()

    return {
      listen: async () => ({ url: await http.listen(config.server.host, config.server.port) }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
