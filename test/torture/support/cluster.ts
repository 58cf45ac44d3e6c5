/** Two nodes behind a proxy on private PostgreSQL and Redis servers, all of which can be restarted. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../../src/config/root.ts'
import { getProgram, installPackages } from '../../support/programs.ts'
import { createRunFolder, findPlace, startDaemon } from '../../support/run-folder.ts'
import { freePort, isReachable, startPostgresProcess, startRedis } from '../../support/servers.ts'
import { restartServer } from './restart-server.ts'
import { createServiceProcess, type ServiceProcess, serviceEnvironment } from './service-process.ts'

export type ProxyName = 'nginx' | 'haproxy'

export interface Cluster {
  /** Of the proxy. */
  url: string
  databaseUrl: string
  nodes: ServiceProcess[]
  restartRedis(): Promise<void>
  restartPostgres(): Promise<void>
  close(): Promise<void>
}

export async function startCluster(proxy: ProxyName, logs: string): Promise<Cluster> {
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
  const port = await freePort()
  await startProxy(proxy, { port, ports: nodes.map(({ url }) => new URL(url).port), folder: run.path, logs })
  return {
    url: `http://127.0.0.1:${port}`,
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

/** The configuration in deploy/ with the addresses of this run, and without TLS. */
async function startProxy(
  proxy: ProxyName,
  { port, ports, folder, logs }: { port: number; ports: string[]; folder: string; logs: string },
): Promise<void> {
  installPackages(isInstalled(proxy) ? [] : [proxy])
  const file = join(folder, `${proxy}.conf`)
  if (proxy === 'nginx') {
    const site = readConfig('nginx.conf', ports)
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replaceAll(/^ *(ssl_|server_name).*$/gm, '')
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder};`)
    const limits = 'worker_processes 1; worker_rlimit_nofile 4096; events { worker_connections 2000; }'
    const paths = `pid ${folder}/nginx.pid; error_log ${logs}/nginx.log; daemon off;`
    writeFileSync(file, `${paths} ${limits} http { access_log off; ${temporary.join(' ')} ${site} }`)
    startDaemon(folder, getProgram('nginx'), ['-e', `${logs}/nginx.log`, '-p', folder, '-c', file], {})
  } else {
    const config = readConfig('haproxy.cfg', ports)
      .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
      .replace('maxconn 20000', 'maxconn 2000\n    nbthread 1')
    writeFileSync(file, config)
    startDaemon(folder, getProgram('haproxy'), ['-db', '-f', file], {})
  }
  while (!(await isReachable(port))) await sleep(50)
}

function readConfig(name: string, ports: string[]): string {
  const config = readFileSync(join(root, 'deploy', name), 'utf8')
  return ports.reduce((text, port, i) => text.replaceAll(`10.0.0.1${i + 1}:3000`, `127.0.0.1:${port}`), config)
}

function isInstalled(program: ProxyName): boolean {
  try {
    return getProgram(program) !== ''
  } catch {
    return false
  }
}
