/** The log: JSON lines, or readable ones where a person watches. Secrets never reach a line, whoever logs them. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { pretty } from './pretty.ts'

export type Log = Logger

export interface LogOptions {
  level: string
  /** Where a person watches, lines are for people. */
  isTerminal: boolean
  /** Standard output where none is given. */
  destination?: DestinationStream
}

const secretName =
  /^(authorization|proxy-authorization|cookie|set-cookie|.*password.*|.*secret.*|.*token|_token|.*code|.*codes|.*app_?key)$/i
const hidden = '[hidden]'
const maxDepth = 6

export function createLogger({ level, isTerminal, destination }: LogOptions): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (line: object) => hideSecrets(line, 0) as Record<string, unknown>,
    },
    serializers: { err: describeError },
  }
  const target = destination ?? (isTerminal ? pretty() : pino.destination({ dest: 1, sync: false }))
  return pino(options, target)
}

/** Replaces what stands under a telling name, at any depth a line sensibly has. */
function hideSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  if (depth >= maxDepth) return '[too deep]'
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, depth + 1))
  // A request or a socket, say, holds its headers in more places than names can tell.
  if (!isPlain(value)) return `[${value.constructor.name}]`
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      secretName.test(name) ? hidden : hideSecrets(inner, depth + 1),
    ]),
  )
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Only these fields: a driver's error also carries statements and the values that broke them. */
function describeError(error: Error & { code?: unknown }): object {
  if (!(error instanceof Error)) return { message: String(error) }
  return {
    type: error.name,
    message: error.message,
    ...(error.code === undefined ? {} : { reason: String(error.code) }),
    stack: error.stack,
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  }
}
