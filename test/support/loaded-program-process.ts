/** Runs src/main.ts for each order of loaded-program.ts, as if the process had just started with it. */
import { Readable } from 'node:stream'
import type { Order } from './loaded-program.ts'

class Exit extends Error {}

const main = new URL('../../src/main.ts', import.meta.url)
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
  await import(main.href).catch((error) => {
    if (!(error instanceof Exit)) throw error
  })
  // What the program listens to until its process ends.
  process.stdout.removeAllListeners('error')
  process.send?.(process.exitCode ?? 0)
  process.exitCode = undefined
  process.stdout.write(end)
  process.stderr.write(end)
  process.chdir('/')
})
