import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { CommandContext } from '../../../platform/command-line/command.ts'
import { describeFailure } from '../../../platform/command-line/database-failure.ts'
import { listenForInterrupt } from '../../../platform/command-line/interrupt.ts'
import { createProgress, displayOn, formatCount, formatDuration } from '../../../platform/command-line/progress.ts'
import { keepHeapSmall } from '../../../platform/process/small-heap.ts'
import type { ProductsService } from '../products.create.ts'
import { createProductTransfer } from '../transfer/product-transfer.ts'
import { formatProducts } from './format-products.ts'

export interface SeedOptions {
  count: number
  seed: number
  force?: boolean
  quiet?: boolean
}

const maxCount = 10_000_000

export async function seedProducts(
  { config, open }: CommandContext<ProductsService>,
  given: SeedOptions,
): Promise<void> {
  keepHeapSmall()
  const { count, seed } = given
  if (count < 1 || count > maxCount) {
    throw new FatalError(`--count must be from 1 to ${formatCount(maxCount)}`, exitCodes.usage)
  }
  if (config.environment === 'production' && !given.force) {
    throw new FatalError('NODE_ENV is production: made-up products need --force there', exitCodes.usage)
  }
  const interrupt = listenForInterrupt()
  const { infrastructure, close } = await open()
  const { clock } = infrastructure
  const progress = createProgress({ clock, stream: process.stderr, display: displayOn(process.stderr, given) })
  const start = clock.now()
  let made = 0
  try {
    progress.update({ total: count })
    await createProductTransfer(infrastructure).seed({
      count,
      seed,
      signal: interrupt.signal,
      onProgress(now) {
        made = now
        progress.update({ done: made, rows: made })
      },
    })
    progress.end()
    process.stdout.write(`made ${formatProducts(made)} in ${formatDuration(clock.now() - start)}\n`)
    if (made < count) throw new FatalError('interrupted; what was made is kept', interrupt.exitCode())
  } catch (error) {
    throw describeFailure(error, `${formatProducts(made)} made so far are kept`)
  } finally {
    progress.end()
    interrupt.release()
    await close()
  }
}
