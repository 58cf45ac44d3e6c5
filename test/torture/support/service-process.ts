/** The service as a process on a fixed port, to be started and ended again and again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../../../src/config/root.ts'
import { registerProcess } from '../../support/run-folder.ts'

export interface ServiceProcess {
  name: string
  url: string
  /** Undefined before the first start. */
  pid(): number | undefined
  isRunning(): boolean
  /** How long the last start took. */
  startMs(): number
  /** Resolves when it is ready. */
  start(): Promise<void>
  /** Starts it without waiting. */
  launch(): void
  /** Waits until it is ready, also after its database was away. */
  ready(): Promise<void>
  /** Sends the signal and waits for the end of the process. Returns how long that took. */
  stop(signal: NodeJS.Signals): Promise<{ ms: number; code: number | null }>
}

export interface ServiceProcessOptions {
  name: string
  /** With PORT. */
  env: Record<string, string>
  /** Of the run. */
  folder: string
  log: string
}

export function createServiceProcess({ name, env, folder, log }: ServiceProcessOptions): ServiceProcess {
  const url = `http://127.0.0.1:${env.PORT}`
  const lines = createWriteStream(log, { flags: 'a' })
  let child: ChildProcess | undefined
  let forget = () => {}
  let startMs = 0
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null

  function launch(): void {
    child = spawn(join(root, 'bin', 'latchkey'), ['start'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream?.pipe(lines, { end: false })
    forget = registerProcess(folder, child.pid as number)
  }

  async function ready(): Promise<void> {
    for (;;) {
      if (!isRunning()) throw new Error(`${name} did not start: see ${log}`)
      const response = await fetch(`${url}/health/ready`).catch(() => undefined)
      await response?.arrayBuffer()
      if (response?.ok) return
      await sleep(10)
    }
  }

  return {
    name,
    url,
    pid: () => child?.pid,
    launch,
    ready,
    isRunning,
    startMs: () => startMs,
    async start() {
      const startedAt = performance.now()
      launch()
      await ready()
      startMs = performance.now() - startedAt
    },
    async stop(signal) {
      if (!child || !isRunning()) return { ms: 0, code: null }
      const startedAt = performance.now()
      const ended = once(child, 'exit')
      child.kill(signal)
      const [code] = await ended
      forget()
      return { ms: Math.round(performance.now() - startedAt), code }
    },
  }
}

/** As in production, for a load that signs in all the time from one address. THREADS of the environment wins. */
export function serviceEnvironment({ threads }: { threads: number }): Record<string, string> {
  const { PATH = '', HOME = '', THREADS = String(threads) } = process.env
  return {
    PATH,
    HOME,
    NODE_ENV: 'production',
    THREADS,
    HOST: '127.0.0.1',
    GQL_WS_PORT: '0',
    JWT_SECRET: 'a secret that only the tests know and use',
    BCRYPT_COST: '4',
    ...Object.fromEntries(['LOGIN', 'REGISTER', 'REFRESH'].map((kind) => [`RATE_LIMIT_${kind}`, '100000000/60'])),
    LOG_LEVEL: 'warn',
  }
}
