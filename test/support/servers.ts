/** Private PostgreSQL and Redis servers in the folder of a run, on free ports. They are removed after the run. */
import { type SpawnOptions, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findProgram, installPackages, pathFolders } from './programs.ts'
import { startDaemon } from './run-folder.ts'

export interface Servers {
  databaseUrl: string
  redisUrl: string
}

interface Given {
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
}

export async function startServers(folder: string, given: Given): Promise<Servers> {
  installMissing(given)
  const [databaseUrl, redisUrl] = await Promise.all([
    given.databaseUrl ?? startPostgres(folder),
    given.redisUrl ?? startRedis(folder).then(({ url }) => url),
  ])
  return { databaseUrl, redisUrl }
}

export interface Started {
  url: string
  pid: number
}

export async function startPostgres(folder: string, more: Record<string, string> = {}): Promise<string> {
  return (await startPostgresProcess(folder, more)).url
}

/** `more` are additional settings. */
export async function startPostgresProcess(folder: string, more: Record<string, string> = {}): Promise<Started> {
  const data = createDataFolder(folder)
  const trusting = ['-U', 'latchkey', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']
  runPostgresProgram('initdb', data, ['-D', data, ...trusting, '--no-sync', '--no-instructions'])
  return startOnData(folder, data, more)
}

/** A streaming standby of a running server. */
export async function startStandbyProcess(
  folder: string,
  primaryUrl: string,
  more: Record<string, string> = {},
): Promise<Started> {
  const data = createDataFolder(folder)
  runPostgresProgram('pg_basebackup', data, ['-D', data, '-d', primaryUrl, '-R', '--checkpoint=fast', '--no-sync'])
  return startOnData(folder, data, more)
}

function createDataFolder(folder: string): string {
  const data = join(folder, 'postgres')
  mkdirSync(data, { mode: 0o700 })
  const owner = unprivilegedUser()
  if (owner) chownSync(data, owner.uid, owner.gid)
  return data
}

function runPostgresProgram(name: string, data: string, args: string[]): void {
  const bin = findPostgres() ?? fail('PostgreSQL')
  const made = spawnSync(join(bin, name), args, { ...unprivilegedUser(), cwd: data, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`${name} failed: ${made.stderr || made.error}`)
}

async function startOnData(folder: string, data: string, more: Record<string, string>): Promise<Started> {
  const bin = findPostgres() ?? fail('PostgreSQL')
  const options: SpawnOptions = { ...unprivilegedUser(), cwd: data }
  const port = await freePort()
  // Only for tests: speed instead of durability.
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: 300,
    // Each new database looks through them all.
    shared_buffers: '16MB',
    deadlock_timeout: '50ms',
    // Looking after hundreds of databases takes longer than reading their few rows.
    autovacuum: 'off',
    ...more,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const pid = startDaemon(folder, join(bin, 'postgres'), ['-D', data, ...args], options)
  const url = `postgres://latchkey@127.0.0.1:${port}/postgres`
  // Its port is open before it accepts queries.
  await waitUntil(() => answersQueries(url), 'PostgreSQL')
  return { url, pid }
}

export async function startRedis(folder: string): Promise<Started> {
  const binary = findProgram('redis-server', 'valkey-server') ?? fail('Redis')
  const port = await freePort()
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder]
  const pid = startDaemon(folder, binary, args, {})
  await waitUntil(() => isReachable(port), 'Redis')
  return { url: `redis://127.0.0.1:${port}`, pid }
}

function installMissing(given: Given): void {
  installPackages([
    ...(given.databaseUrl || findPostgres() ? [] : ['postgresql']),
    ...(given.redisUrl || findProgram('redis-server', 'valkey-server') ? [] : ['redis-server']),
    ...(pgBouncerPath() ? [] : ['pgbouncer']),
  ])
}

export function findPgBouncer(): string {
  return pgBouncerPath() ?? fail('PgBouncer')
}

/** Debian keeps it among the programs of root, which other users may not have on their path. */
function pgBouncerPath(): string | undefined {
  const debian = '/usr/sbin/pgbouncer'
  return findProgram('pgbouncer') ?? (existsSync(debian) ? debian : undefined)
}

function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...pathFolders()]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** PostgreSQL refuses to run as root. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' })
    const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' })
    if (uid.status === 0 && gid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  throw new Error('PostgreSQL cannot run as root, and there is neither a user "postgres" nor "nobody"')
}

const packages = {
  PostgreSQL: { name: 'postgresql', otherwise: ' or name a server in TEST_DATABASE_URL' },
  Redis: { name: 'redis-server', otherwise: ' or name a server in TEST_REDIS_URL' },
  PgBouncer: { name: 'pgbouncer', otherwise: '' },
}

function fail(program: keyof typeof packages): never {
  const { name, otherwise } = packages[program]
  throw new Error(`the tests need ${program}: install it ("apt-get install ${name}")${otherwise}`)
}

/**
 * Below the range from which connections get their own ports: whoever tries to connect to a server that is being restarted
 * could otherwise be given its port, meet itself, and keep the server from starting.
 */
const ports = { first: 10_000, last: 32_000 }

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.first, ports.last)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (isListening) await new Promise((resolve) => server.close(resolve))
  return isListening
}

export async function waitUntil(isUp: () => Promise<boolean>, name: string): Promise<void> {
  for (let attempt = 0; attempt < 1800; attempt++) {
    if (await isUp()) return
    await sleep(100)
  }
  throw new Error(`${name} did not start within three minutes`)
}

async function answersQueries(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

export function isReachable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.end(() => resolve(true)))
    socket.once('error', () => resolve(false))
  })
}
