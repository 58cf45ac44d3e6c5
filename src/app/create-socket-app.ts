/** The WebSocket server without the HTTP API. */
import { openService, type ServiceOptions } from './open-service.ts'
import { createSocketParts } from './sockets.ts'

export interface SocketApp {
  listen(): Promise<{ wsUrl: string }>
  close(): Promise<void>
}

export async function createSocketApp(options: ServiceOptions): Promise<SocketApp> {
  const { infrastructure, graphql } = await openService(options)
  const sockets = createSocketParts(infrastructure, graphql)
  infrastructure.onClose(() => sockets.close())
  return { listen: async () => ({ wsUrl: await sockets.listen() }), close: infrastructure.close }
}
