/**
 * Runs commands one after another in a process that has loaded the program already, which takes longer than most commands.
 * Everything but bin/latchkey and the start of Node is the same. See loaded-program-process.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { after } from 'node:test'
import { root } from '../../src/config/root.ts'
import { type CommandOptions, type Ended, environment } from './process.ts'

const endOfOutput = '\0end\0'

export interface Order {
  args: string[]
  env: Record<string, string>
  cwd: string
  input: string
  /** To be printed after all output. The program prints no such thing. */
  end: string
}

let started: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()
// The program listens to gentler signals.
after(() => started?.kill('SIGKILL'))

/** Like `latchkey` in process.ts, for commands that end by themselves. */
export function runLoaded(
  args: string[],
  { env = {}, cwd = '/', input = '' }: Pick<CommandOptions, 'env' | 'cwd' | 'input'> = {},
): Promise<Ended> {
  const ended = last.then(() => run({ args, env: environment(env), cwd, input, end: endOfOutput }))
  last = ended.catch(() => undefined)
  return ended
}

async function run(order: Order): Promise<Ended> {
  started ??= start()
  const child = started
  const gone = Promise.withResolvers<never>()
  const end = () => gone.reject(new Error(`the process ended during ${order.args.join(' ')}`))
  child.once('exit', end)
  const code = new Promise<number>((resolve) => child.once('message', resolve))
  const outputs = [child.stdout, child.stderr].map(readOutput)
  child.send(order)
  const [stdout = '', stderr = ''] = await Promise.race([Promise.all(outputs), gone.promise])
  child.off('exit', end)
  return { code: await code, stdout, stderr }
}

function start(): ChildProcess {
  const program = join(import.meta.dirname, 'loaded-program-process.ts')
  return spawn(process.execPath, [program], {
    cwd: '/',
    env: environment({ NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled') }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}

function readOutput(stream: ChildProcess['stdout']): Promise<string> {
  return new Promise((resolve) => {
    let seen = ''
    stream?.setEncoding('utf8').on('data', function read(chunk: string) {
      seen += chunk
      if (!seen.endsWith(endOfOutput)) return
      stream.off('data', read)
      resolve(seen.slice(0, -endOfOutput.length))
    })
  })
}
