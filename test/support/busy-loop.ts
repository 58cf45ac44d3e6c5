import type { FastifyInstance } from 'fastify'

/** Keeps the event loop of a service busy for 40 milliseconds at a time until it closes: `extend: keepBusy`. */
export function keepBusy(app: FastifyInstance): void {
  const busy = setInterval(() => {
    for (const end = performance.now() + 40; performance.now() < end; );
  }, 1)
  app.addHook('onClose', async () => clearInterval(busy))
}
