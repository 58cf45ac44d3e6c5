/** The WebSocket server without the HTTP API. */
import type { Stoppable } from './create-app.ts'
import { openService, type ServiceOptions } from './open-service.ts'
import { createSocketParts } from './sockets.ts'

export interface SocketApp extends Stoppable {
  listen(): Promise<{ wsUrl: string }>
}

export async function createSocketApp(options: ServiceOptions): Promise<SocketApp> {
  const { infrastructure, graphql, readiness } = await openService(options)
  const sockets = createSocketParts(infrastructure, graphql, readiness)
  infrastructure.onClose(async () => {
    await sockets.stopListening()
    await sockets.close()
  })
  return {
    listen: async () => ({ wsUrl: await sockets.listen() }),
    drain: readiness.drain,
    close: infrastructure.close,
    cutOff: sockets.cutOff,
  }
}
