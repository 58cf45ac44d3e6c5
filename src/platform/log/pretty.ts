import { createRequire } from 'node:module'
import type { DestinationStream } from 'pino'

const require = createRequire(import.meta.url)

export function pretty(): DestinationStream {
  // Loaded on demand, because loading it takes longer than most commands.
  const { PinoPretty } = require('pino-pretty') as typeof import('pino-pretty')
  return PinoPretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
    sync: true,
  })
}
