import { createSocketApp } from '../app/create-socket-app.ts'
import { keepHeapSteady } from '../platform/process/steady-heap.ts'
import { lockServedFile } from './served-file.ts'
import { endOnWriterDeath, serve } from './serving.ts'
import type { Settings } from './settings.ts'

export interface SocketOptions {
  host?: string
  port?: number
}

/** Serves GraphQL's sockets alone, until a signal asks it to stop. */
export async function serveSockets({ host, port }: SocketOptions, settings: Settings): Promise<void> {
  const { config: read, log, extensions } = settings
  const { wsHost, wsPort, pubsub } = read.graphql
  const graphql = { ...read.graphql, wsHost: host ?? wsHost, wsPort: port ?? wsPort }
  const config = { ...read, graphql }
  if (pubsub === 'in_memory') {
    log.warn('graphql.pubsub is in_memory: subscriptions hear nothing of what other processes publish; redis does')
  }
  lockServedFile(config, { isBeside: pubsub !== 'in_memory' })
  const app = await createSocketApp({ config, log, extensions, onWriterDeath: endOnWriterDeath(log) })
  await serve(app, { ...config.server, isDevelopment: config.isDevelopment, log }, async () => {
    const { wsUrl } = await app.listen()
    keepHeapSteady()
    log.info({ wsUrl, environment: config.environment }, 'Latchkey is listening for sockets')
  })
}
