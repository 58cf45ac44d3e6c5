/** Two nodes behind a proxy on private PostgreSQL and Redis servers, all of which can be restarted. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type BalancerName, startBalancer } from '../../support/load-balancer.ts'
import { createRunFolder, findPlace } from '../../support/run-folder.ts'
import { freePort, startPostgresProcess, startRedis } from '../../support/servers.ts'
import { restartServer } from './restart-server.ts'
import { createServiceProcess, type ServiceProcess, serviceEnvironment } from './service-process.ts'

export interface Cluster {
  /** Of the proxy. */
  url: string
  databaseUrl: string
  nodes: ServiceProcess[]
  restartRedis(): Promise<void>
  restartPostgres(): Promise<void>
  close(): Promise<void>
}

export async function startCluster(proxy: BalancerName, logs: string): Promise<Cluster> {
  const run = createRunFolder(findPlace())
  mkdirSync(logs, { recursive: true })
  const postgres = await startPostgresProcess(run.path)
  const redis = await startRedis(run.path)
  const nodes: ServiceProcess[] = []
  for (const name of ['node-1', 'node-2']) {
    const env = { ...environment(), DATABASE_URL: postgres.url, REDIS_URL: redis.url, PORT: String(await freePort()) }
    nodes.push(createServiceProcess({ name, env, folder: run.path, log: join(logs, `${proxy}-${name}.log`) }))
  }
  await Promise.all(nodes.map((node) => node.start()))
  const ports = nodes.map(({ url }) => Number(new URL(url).port))
  const { url } = await startBalancer(proxy, { ports, folder: run.path, logs })
  return {
    url,
    databaseUrl: postgres.url,
    nodes,
    restartRedis: () => restartServer(redis, run.path, 'SIGTERM'),
    // A fast shutdown: it ends the connections of its clients.
    restartPostgres: () => restartServer(postgres, run.path, 'SIGINT'),
    async close() {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
      await run.remove()
    },
  }
}

function environment(): Record<string, string> {
  const { DRAIN_SECONDS = '' } = process.env
  return { ...serviceEnvironment({ threads: 2 }), DRAIN_SECONDS, GQL_PUBSUB: 'redis', TRUSTED_PROXIES: 'loopback' }
}
