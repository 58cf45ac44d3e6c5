/** The WebSocket server alone. */
import { type GroundOptions, openGround } from './ground.ts'
import { createServices } from './services.ts'
import { createSocketParts } from './sockets.ts'

export interface SocketApp {
  listen(): Promise<{ wsUrl: string }>
  close(): Promise<void>
}

export async function createSocketApp(options: GroundOptions): Promise<SocketApp> {
  const ground = await openGround({ ...options, isService: true })
  try {
    const { auth, liveAccess, graphql } = await createServices(ground)
    const sockets = createSocketParts(ground, {
      ...graphql,
      authenticate: auth.authenticate,
      liveAccess,
    })
    ground.onClose(() => sockets.close())
    return { listen: async () => ({ wsUrl: await sockets.listen() }), close: ground.close }
  } catch (error) {
    await ground.close()
    throw error
  }
}
