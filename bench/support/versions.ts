/** Versions of the service side by side: each is started by its own command, on a database of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../src/config/root.ts'
import type { BenchServer } from './load.ts'

/** A mistake of the one who asked, whose text says it all. */
export class UsageError extends Error {}

/** The short hash of what a branch, a tag or a hash names. */
export function findCommit(ref: string): string {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--short', '--end-of-options', `${ref}^{commit}`]
    return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  } catch {
    throw new UsageError(`git knows no commit "${ref}" here`)
  }
}

/** The files of a commit in a folder, with the dependencies that they name. */
export async function checkOut(commit: string, folder: string, signal: AbortSignal): Promise<void> {
  const archive = `${folder}.tar`
  await run('git', ['archive', '--format=tar', '--output', archive, commit], { cwd: root, signal })
  await run('tar', ['-xf', archive, '-C', folder], { cwd: root, signal })
  const lockOf = (place: string) => readFileSync(join(place, 'package-lock.json'), 'utf8')
  if (lockOf(folder) === lockOf(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  else await run(join(folder, 'bin/install'), [], { cwd: folder, signal })
}

function run(program: string, args: string[], options: { cwd: string; signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new UsageError(`"${program}" failed (${code})`))))
  })
}

export interface VersionOptions {
  /** Where its files are. */
  place: string
  databaseUrl: string
  /** "bin/latchkey start" in `place` if not given. */
  command?: string[]
  /** Which cores it may use, as taskset has it: 0 if not given. */
  cores?: string
  env?: Record<string, string>
  /** How often it is asked whether it serves. */
  pollMs?: number
  signal?: AbortSignal
}

const startWithinMs = 60_000

/** Resolves when it serves. */
export async function startVersion(options: VersionOptions): Promise<BenchServer> {
  const { place, databaseUrl, cores = '0', env = {}, pollMs = 100, signal } = options
  const { command = [join(place, 'bin/latchkey'), 'start'] } = options
  const [port, wsPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const child = spawn('taskset', ['-c', cores, ...command], {
    cwd: place,
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: databaseUrl,
      HOST: '127.0.0.1',
      PORT: String(port),
      GQL_WS_HOST: '127.0.0.1',
      GQL_WS_PORT: String(wsPort),
      LOG_LEVEL: 'warn',
      // A sixteenth of the default: what a login costs beside its hash shows more clearly.
      BCRYPT_COST: '8',
      RATE_LIMIT_LOGIN: '1000000/1',
      // A virtual machine may stand still for a second, which is a slow round and no overload.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      JWT_SECRET: 'a secret for the benchmarks, nothing else',
      ...env,
    },
    // Warnings explain what failed.
    stdio: ['ignore', process.stderr.fd, 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    for (const startedAt = performance.now(); !(await isLive(url)); ) {
      signal?.throwIfAborted()
      if (child.exitCode !== null) throw new UsageError(`the service in ${place} has ended by itself`)
      if (performance.now() - startedAt > startWithinMs) throw new UsageError(`the service in ${place} does not serve`)
      await sleep(pollMs)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { url, pid: child.pid as number, stop }
}

async function isLive(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Processor time that a process has used with all of its threads, in seconds. */
export function cpuSecondsOf({ pid }: BenchServer): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  }
  return nanoseconds / 1e9
}
