/** nginx or HAProxy with its configuration in deploy/, with the addresses of this run, and without TLS. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'
import { findProgram, getProgram, installPackages } from './programs.ts'
import { startDaemon } from './run-folder.ts'
import { freePort, isReachable, waitUntil } from './servers.ts'

export type BalancerName = 'nginx' | 'haproxy'

export interface Balancer {
  url: string
  pid: number
}

interface BalancerOptions {
  /** Of the two nodes. */
  ports: readonly number[]
  /** For its configuration, and for the file with its process id. */
  folder: string
  /** A folder. */
  logs: string
}

/** Runs until the folder's watchdog ends it. */
export async function startBalancer(name: BalancerName, { ports, folder, logs }: BalancerOptions): Promise<Balancer> {
  installPackages(findProgram(name) ? [] : [name])
  const port = await freePort()
  const file = join(folder, `${name}.conf`)
  writeFileSync(file, name === 'nginx' ? nginxConfig({ port, ports, folder, logs }) : haproxyConfig(port, ports))
  const args = name === 'nginx' ? ['-e', `${logs}/nginx.log`, '-p', folder, '-c', file] : ['-db', '-f', file]
  const pid = startDaemon(folder, getProgram(name), args, {})
  await waitUntil(() => isReachable(port), name)
  return { url: `http://127.0.0.1:${port}`, pid }
}

function nginxConfig({ port, ports, folder, logs }: BalancerOptions & { port: number }): string {
  const site = readConfig('nginx.conf', ports)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *(ssl_|server_name).*$/gm, '')
  const limits = 'worker_processes 1; worker_rlimit_nofile 4096; events { worker_connections 2000; }'
  const paths = `pid ${folder}/nginx.pid; error_log ${logs}/nginx.log; daemon off;`
  return `${paths} ${limits} http { access_log off; ${temporaryPaths(folder)} ${site} }`
}

/** Where nginx keeps large bodies. By default these are folders of the system. */
export function temporaryPaths(folder: string): string {
  return ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder};`).join(' ')
}

function haproxyConfig(port: number, ports: readonly number[]): string {
  return readConfig('haproxy.cfg', ports)
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replace('maxconn 2000', 'maxconn 2000\n    nbthread 1')
}

function readConfig(name: string, ports: readonly number[]): string {
  const config = readFileSync(join(root, 'deploy', name), 'utf8')
  return ports.reduce((text, port, i) => text.replaceAll(`10.0.0.1${i + 1}:3000`, `127.0.0.1:${port}`), config)
}
