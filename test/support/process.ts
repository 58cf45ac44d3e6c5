/** The service as a process, started with bin/latchkey. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { registerProcess } from './run-folder.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  url: string
  /** URL of the WebSocket port. */
  wsUrl: string
  child: ChildProcess
  ended: Promise<Ended>
  /** Its standard output so far. */
  output(): string
}

export interface CommandOptions {
  env?: Record<string, string>
  cwd?: string
  input?: string
  /** Another folder with the program. */
  program?: string
  /** Another user to run it as. */
  user?: { uid?: number; gid?: number }
}

/**
 * A minimal environment, so that nothing of the tests' own leaks in. TMPDIR shows to which run a process belongs; see
 * leftovers.ts.
 */
export function environment(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', TMPDIR: tmpdir(), ...env }
}

/** Runs a command to its end. */
export async function latchkey(
  args: string[],
  { env = {}, cwd = '/', input, program = root, user = {} }: CommandOptions = {},
): Promise<Ended> {
  const child = spawn(join(program, 'bin', 'latchkey'), args, { cwd, env: environment(env), ...user })
  child.stdin.end(input)
  return collect(child)
}

/** Starts a command that serves and waits until it listens. It is stopped after the test. */
export async function startProcess(
  t: Pick<TestContext, 'after'>,
  {
    env = {},
    args = [],
    command = 'start',
    program = root,
  }: CommandOptions & { args?: string[]; command?: string } = {},
): Promise<Running> {
  const child = spawn(join(program, 'bin', 'latchkey'), [command, ...args], {
    cwd: '/',
    // One thread starts in half the time; tests that are about threads ask for them.
    env: environment({
      HOST: '127.0.0.1',
      PORT: '0',
      GQL_WS_HOST: '127.0.0.1',
      GQL_WS_PORT: '0',
      THREADS: '1',
      // As in start-service.ts: other tests keep the machine busy, which must not shed load.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      ...env,
    }),
  })
  const forget = registerProcess(process.env.TEST_RUN_FOLDER ?? tmpdir(), child.pid as number)
  child.once('exit', forget)
  t.after(() => child.kill('SIGKILL'))
  const ended = collect(child)
  let seen = ''
  const line = await new Promise<string | undefined>((resolve) => {
    child.stdout.on('data', (chunk) => {
      seen += chunk
      const found = seen.split('\n').find((each) => each.includes('Latchkey is listening') && each.endsWith('}'))
      if (found) resolve(found)
    })
    child.once('exit', () => resolve(undefined))
  })
  if (line === undefined) throw new Error(`the service did not start: ${(await ended).stderr}${seen}`)
  const { url = '', wsUrl = '' } = JSON.parse(line)
  return { url, wsUrl, child, ended, output: () => seen }
}

export async function collect(child: ChildProcess): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}
