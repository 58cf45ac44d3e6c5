import { defineCommand, exitCodes, FatalError, isAppError } from 'latchkey/feature'
import type { Orders } from './orders.service.ts'
import type { Order } from './orders.store.ts'

const atOnce = 100

export const orderCommands = [
  defineCommand<Orders, { days: string }>({
    name: 'orders:cancel-stale',
    describe: (command) =>
      void command
        .description('cancel orders that were placed long ago, and give their stock back')
        .requiredOption('--days <n>', 'how many days ago, at least'),
    async run({ open }, { options }) {
      if (!/^\d{1,4}$/.test(options.days)) throw new FatalError('--days must be a whole number', exitCodes.usage)
      const { service, infrastructure, close } = await open()
      try {
        const before = new Date(infrastructure.clock.now() - Number(options.days) * 86_400_000).toISOString()
        let cancelled = 0
        for (let stale = await service.listStale(before, atOnce); stale.length > 0; ) {
          for (const order of stale) cancelled += await cancel(service, order)
          stale = await service.listStale(before, atOnce)
        }
        process.stdout.write(`cancelled ${cancelled} orders\n`)
      } finally {
        await close()
      }
    },
  }),
]

const client = { address: 'local', userAgent: 'command line' }

/** Returns 0 if the order has been cancelled in the meantime. */
async function cancel(orders: Orders, order: Order): Promise<number> {
  try {
    await orders.cancel(order, { id: null, client })
    return 1
  } catch (error) {
    if (isAppError(error, 'order_already_cancelled')) return 0
    throw error
  }
}
