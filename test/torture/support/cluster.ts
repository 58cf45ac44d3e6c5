/** Two nodes behind a proxy on private PostgreSQL and Redis servers, all of which can be restarted. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../../src/config/root.ts'
import { getProgram, installPackages } from '../../support/programs.ts'
import { createRunFolder, findPlace, registerProcess, startDaemon } from '../../support/run-folder.ts'
import { freePort, isReachable, startPostgresProcess, startRedis } from '../../support/servers.ts'

export type ProxyName = 'nginx' | 'haproxy'

export interface ClusterNode {
  name: string
  url: string
  /** Sends the signal and waits for the end of the process. Returns how long that took. */
  stop(signal: NodeJS.Signals): Promise<{ ms: number; code: number | null }>
  /** Resolves when the node is ready. */
  start(): Promise<void>
}

export interface Cluster {
  /** Of the proxy. */
  url: string
  databaseUrl: string
  nodes: ClusterNode[]
  restartRedis(): Promise<void>
  restartPostgres(): Promise<void>
  close(): Promise<void>
}

export async function startCluster(proxy: ProxyName, logs: string): Promise<Cluster> {
  const run = createRunFolder(findPlace())
  mkdirSync(logs, { recursive: true })
  const postgres = await startPostgresProcess(run.path)
  const redis = await startRedis(run.path)
  const nodes: ClusterNode[] = []
  for (const name of ['node-1', 'node-2']) {
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, PORT: String(await freePort()) }
    nodes.push(createNode({ name, env, folder: run.path, log: join(logs, `${proxy}-${name}.log`) }))
  }
  await Promise.all(nodes.map((node) => node.start()))
  const port = await freePort()
  await startProxy(proxy, { port, ports: nodes.map(({ url }) => new URL(url).port), folder: run.path, logs })
  return {
    url: `http://127.0.0.1:${port}`,
    databaseUrl: postgres.url,
    nodes,
    restartRedis: () => restart(redis, run.path, 'SIGTERM'),
    // A fast shutdown: it ends the connections of its clients.
    restartPostgres: () => restart(postgres, run.path, 'SIGINT'),
    async close() {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
      await run.remove()
    },
  }
}

interface NodeOptions {
  name: string
  env: Record<string, string>
  folder: string
  log: string
}

function createNode({ name, env, folder, log }: NodeOptions): ClusterNode {
  const url = `http://127.0.0.1:${env.PORT}`
  const lines = createWriteStream(log)
  let child: ChildProcess | undefined
  let forget = () => {}
  return {
    name,
    url,
    async start() {
      child = spawn(join(root, 'bin', 'latchkey'), ['start'], {
        env: { ...commonEnvironment(), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [child.stdout, child.stderr]) stream?.pipe(lines, { end: false })
      forget = registerProcess(folder, child.pid as number)
      for (;;) {
        if (child.exitCode !== null) throw new Error(`${name} did not start: see ${log}`)
        const response = await fetch(`${url}/health/ready`).catch(() => undefined)
        await response?.arrayBuffer()
        if (response?.ok) return
        await sleep(50)
      }
    },
    async stop(signal) {
      if (!child || child.exitCode !== null || child.signalCode !== null) return { ms: 0, code: null }
      const startedAt = performance.now()
      const ended = once(child, 'exit')
      child.kill(signal)
      const [code] = await ended
      forget()
      return { ms: Math.round(performance.now() - startedAt), code }
    },
  }
}

function commonEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', THREADS = '', DRAIN_SECONDS = '' } = process.env
  return {
    PATH,
    HOME,
    NODE_ENV: 'production',
    THREADS,
    DRAIN_SECONDS,
    HOST: '127.0.0.1',
    GQL_WS_PORT: '0',
    GQL_PUBSUB: 'redis',
    TRUSTED_PROXIES: 'loopback',
    JWT_SECRET: 'a secret that only the tests know and use',
    // The load signs in all the time, from one address.
    BCRYPT_COST: '4',
    ...Object.fromEntries(['LOGIN', 'REGISTER', 'REFRESH'].map((kind) => [`RATE_LIMIT_${kind}`, '100000000/60'])),
    LOG_LEVEL: 'warn',
  }
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

/** Starts the same command again after the process has ended. */
async function restart(server: { url: string; pid: number }, folder: string, signal: NodeJS.Signals): Promise<void> {
  const process_ = `/proc/${server.pid}`
  const [command = '', ...args] = readFileSync(`${process_}/cmdline`, 'utf8').split('\0').slice(0, -1)
  // Redis replaces its arguments by a title that shows its address.
  const isRedis = command.includes(':')
  const { uid, gid } = statSync(process_)
  const cwd = readlinkSync(`${process_}/cwd`)
  process.kill(server.pid, signal)
  while (isRunning(server.pid)) await sleep(20)
  const [binary = ''] = isRedis ? command.split(' ') : [command]
  server.pid = startDaemon(folder, binary, isRedis ? redisArguments(server.url) : args, { uid, gid, cwd })
  const port = Number(new URL(server.url).port)
  while (!(await isReachable(port))) await sleep(20)
}

function redisArguments(url: string): string[] {
  return ['--bind', '127.0.0.1', '--port', new URL(url).port, '--save', '', '--appendonly', 'no']
}

/** A process that has ended but was not waited for is a zombie. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
