import { createServer } from 'node:net'
import { describeListenError } from '../../platform/http/listen-error.ts'

/** Threads that share a port would also share it with another program that does, so it must be free before. */
export async function requireFreePort(target: { host: string; port: number }): Promise<void> {
  if (target.port === 0) return
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describeListenError(error, target)))
    server.listen(target, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
}
