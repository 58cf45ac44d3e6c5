/** The service with what it needs, all of which can be killed: two nodes on PostgreSQL, one on SQLite, and Redis. */

import { join } from 'node:path'
import { freePort, type Started, startPostgresProcess, startRedis } from '../../../support/servers.ts'
import type { Engine } from '../each-engine.ts'
import { restartServer } from '../restart-server.ts'
import { createServiceProcess, type ServiceProcess, serviceEnvironment } from '../service-process.ts'

export interface Installation {
  nodes: readonly ServiceProcess[]
  databaseUrl: string
  restartRedis(signal: NodeJS.Signals): Promise<void>
  /** Undefined on SQLite. */
  restartPostgres: ((signal: NodeJS.Signals) => Promise<void>) | undefined
}

export interface InstallationOptions {
  engine: Engine
  /** Of the run. */
  folder: string
  /** For the database and the logs. */
  kept: string
  /** More variables for the nodes. */
  env: Record<string, string>
}

export async function startInstallation({ engine, folder, kept, env }: InstallationOptions): Promise<Installation> {
  const durable = { fsync: 'on', full_page_writes: 'on' }
  const postgres = engine === 'postgres' ? await startPostgresProcess(folder, durable) : undefined
  const redis = await startRedis(folder)
  const databaseUrl = postgres?.url ?? `file:${join(kept, 'mirror.db')}`
  // A second service on a SQLite file would be refused.
  const names = engine === 'postgres' ? ['node-1', 'node-2'] : ['node-1']
  const nodes: ServiceProcess[] = []
  for (const name of names) {
    const own = { PORT: String(await freePort()), DATABASE_URL: databaseUrl, REDIS_URL: redis.url }
    const all = { ...serviceEnvironment({ threads: 2 }), GQL_PUBSUB: 'redis', ...env, ...own }
    nodes.push(createServiceProcess({ name, env: all, folder, log: join(kept, `${name}.log`) }))
  }
  await Promise.all(nodes.map((node) => node.start()))
  const restart = (server: Started) => async (signal: NodeJS.Signals) => {
    await restartServer(server, folder, signal)
    await Promise.all(nodes.filter((node) => node.isRunning()).map((node) => node.ready()))
  }
  return { nodes, databaseUrl, restartRedis: restart(redis), restartPostgres: postgres && restart(postgres) }
}
