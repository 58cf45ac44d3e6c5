import type { DestinationStream } from 'pino'
import { PinoPretty } from 'pino-pretty'

export function pretty(): DestinationStream {
  return PinoPretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
    sync: true,
  })
}
