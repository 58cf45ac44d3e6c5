import { createRequire } from 'node:module'
import type { DestinationStream } from 'pino'

const require = createRequire(import.meta.url)

export function pretty(): DestinationStream {
  // Read only where a person watches: a command is done before all of its files are.
  const { PinoPretty } = require('pino-pretty') as typeof import('pino-pretty')
  return PinoPretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
    sync: true,
  })
}
