/** Runs src/main.ts for each order of loaded-program.ts, as if the process had just started with it. */
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Order } from './loaded-program.ts'

class Exit extends Error {}

const main = new URL('../../src/main.ts', import.meta.url)
const ownListeners = new Set(process.listeners('exit'))
let count = 0

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', async ({ args, env, cwd, input, end }: Order) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.argv = [process.execPath, main.pathname, ...args]
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', { value: Readable.from(input === '' ? [] : [Buffer.from(input)]) })
  process.exit = (code) => {
    process.exitCode = code
    throw new Exit()
  }
  count += 1
  main.search = `?${count}`
  const program = (await import(main.href)) as { finished: Promise<void> }
  await program.finished.catch((error) => {
    if (!(error instanceof Exit)) throw error
  })
  const code = Number(process.exitCode ?? 0)
  // What the program listens to until its process ends, and what it prints then.
  process.stdout.removeAllListeners('error')
  for (const listener of process.listeners('exit').filter((each) => !ownListeners.has(each))) {
    process.off('exit', listener)
    listener(code)
  }
  // Lines that are being written.
  while (process.getActiveResourcesInfo().includes('FSReqCallback')) await setImmediate()
  process.send?.(code)
  process.exitCode = undefined
  process.stdout.write(end)
  process.stderr.write(end)
  process.chdir('/')
})
