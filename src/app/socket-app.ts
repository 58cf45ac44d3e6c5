/** The WebSocket server alone. */
import { type InfrastructureOptions, openInfrastructure } from './infrastructure.ts'
import { createServices } from './services.ts'
import { createSocketParts } from './sockets.ts'

export interface SocketApp {
  listen(): Promise<{ wsUrl: string }>
  close(): Promise<void>
}

export async function createSocketApp(options: InfrastructureOptions): Promise<SocketApp> {
  const infrastructure = await openInfrastructure({ ...options, isService: true })
  try {
    const { auth, liveAccess, graphql } = await createServices(infrastructure)
    const sockets = createSocketParts(infrastructure, {
      ...graphql,
      authenticate: auth.authenticate,
      liveAccess,
    })
    infrastructure.onClose(() => sockets.close())
    return { listen: async () => ({ wsUrl: await sockets.listen() }), close: infrastructure.close }
  } catch (error) {
    await infrastructure.close()
    throw error
  }
}
