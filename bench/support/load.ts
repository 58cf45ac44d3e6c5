/** Runs the server on one core and the load generator on the other, so that neither takes CPU time from the other. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'

export interface BenchServer {
  url: string
  pid: number
  stop(): Promise<void>
}

export interface ServerOptions {
  /** Pins the server to core 0. Turn it off to measure the threads of the server. */
  isPinned: boolean
}

/** Starts a script of bench/servers, which prints its URL when it listens. */
export async function startServer(
  script: string,
  env: Record<string, string> = {},
  { isPinned }: ServerOptions = { isPinned: true },
): Promise<BenchServer> {
  const file = join(import.meta.dirname, '..', 'servers', script)
  const cores = isPinned ? '0' : `0-${cpus().length - 1}`
  const child = spawn('taskset', ['-c', cores, process.execPath, file], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()))
    child.once('exit', () => reject(new Error(`${script} did not start`)))
  })
  return {
    url,
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export interface LoadOptions {
  connections: number
  seconds: number
  /** A Lua script for wrk. */
  script?: string
  /** Environment of the Lua script. */
  env?: Record<string, string>
  /** Which cores wrk may use, as taskset has it. Those of this process if not given. */
  cores?: string
}

/** Requests per second over `seconds`, by wrk. */
export function load(url: string, options: LoadOptions): number {
  return measureLoad(url, options).rate
}

export function measureLoad(
  url: string,
  { connections, seconds, script, env, cores }: LoadOptions,
): { rate: number; requests: number; p99Ms: number } {
  requireWrk()
  const scripted = script === undefined ? [] : ['-s', script]
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '10s', ...scripted, url]
  const [program, ...rest] = [...(cores === undefined ? [] : ['taskset', '-c', cores]), 'wrk', ...args] as [string]
  const output = execFileSync(program, rest, { encoding: 'utf8', env: { ...process.env, ...env } })
  const failures = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(output)
  if (failures) throw new Error(`${url}: ${failures[0]}`)
  const requests = Number(/(\d+) requests in/.exec(output)?.[1])
  // The machine or its disk stood still, which compares with nothing.
  if (!(requests > 0)) throw new Error(`${url}: no response in ${seconds} s`)
  return {
    rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    requests,
    // At the start of a line: other shares may be 73.99%.
    p99Ms: readMilliseconds(/^\s+99%\s+(\S+)/m.exec(output)?.[1] ?? ''),
  }
}

/** wrk writes 850.00us, 1.20ms and 1.02s. */
function readMilliseconds(text: string): number {
  const factor = text.endsWith('us') ? 0.001 : text.endsWith('ms') ? 1 : 1000
  return Number.parseFloat(text) * factor
}

/** Sends requests continuously on one connection, in a separate process. Returns a function that stops it. */
export function keepAsking(url: string): () => Promise<void> {
  requireWrk()
  const child = spawn('wrk', ['-t1', '-c1', '-d600s', '--timeout', '10s', url], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return async () => {
    child.kill('SIGTERM')
    await ended
  }
}

function requireWrk(): void {
  if (spawnSync('wrk', ['--version']).error === undefined) return
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0) {
    execFileSync('apt-get', ['update', '-qq'])
    execFileSync('apt-get', ['install', '-y', '-qq', 'wrk'])
    return
  }
  throw new Error('the benchmarks need wrk: install it ("apt-get install wrk")')
}
