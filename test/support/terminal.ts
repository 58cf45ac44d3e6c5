/** `latchkey start` on a terminal, which script(1) provides. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '../../src/config/root.ts'
import { temporaryFolder } from './databases.ts'
import { eventually } from './eventually.ts'
import { collect } from './process.ts'
import { getProgram } from './programs.ts'

export interface Terminal {
  /** What it shows, up to the set-up link. */
  text: string
  /** Presses Ctrl-C, and waits for the end. */
  stop(): Promise<void>
}

export async function startOnTerminal(t: TestContext, env: Record<string, string> = {}): Promise<Terminal> {
  const child = spawn(getProgram('script'), terminalArgs(join(root, 'bin', 'latchkey')), {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      HOST: '0.0.0.0',
      PORT: '0',
      GQL_WS_PORT: '0',
      // As in process.ts: a busy machine must not shed load.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      DATABASE_URL: `file:${join(temporaryFolder(t), 'test.db')}`,
      ...env,
    },
  })
  t.after(() => child.kill('SIGKILL'))
  return readTerminal(child)
}

/** Of script(1), to start the service of this program. */
export function terminalArgs(program: string): string[] {
  return ['-qec', `"${program}" start`, '/dev/null']
}

/** Resolves when the set-up link is printed below the log. */
export async function readTerminal(child: ChildProcess): Promise<Terminal> {
  const ended = collect(child)
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += chunk
  })
  await eventually(() => assert.match(text, /works once, for 30 minutes\)/), 120_000)
  return {
    text: text.replaceAll('\r', ''),
    async stop() {
      child.stdin?.write('\u0003')
      const { stdout } = await ended
      assert.match(stdout, /stopped/)
    },
  }
}

/** The set-up link on a terminal. */
export function setUpLinkOn({ text }: Terminal): string {
  const [, link = ''] = /Set-up {3}(\S+) {2}\(works once, for 30 minutes\)/.exec(text) ?? assert.fail(text)
  return link
}
