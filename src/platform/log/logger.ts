/** The log: JSON lines, or coloured text on a terminal. Secrets are redacted by name, whichever module logs them. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { pretty } from './pretty.ts'
import { openStandardOutput } from './standard-output.ts'

export type Log = Logger

export interface LogOptions {
  level: string
  isTerminal: boolean
  /** Defaults to standard output. */
  destination?: DestinationStream
}

const secretName = /authorization|cookie|password|secret|tokens?$|codes?$|keys?$/i
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
    // `hideSecrets` has serialised errors already; pino's own serialiser would add all their fields.
    serializers: { err: (described: unknown) => described },
  }
  const target = destination ?? (isTerminal ? pretty() : openStandardOutput({ onLost: reportLost }))
  const log = pino(options, target)
  // Pino applies formatters.log to the lines of a child logger, but not to its bindings.
  const makeChild = log.child
  log.child = function child(this: Log, bindings: object, childOptions?: object) {
    return makeChild.call(this, hideSecrets(bindings, 0) as Record<string, unknown>, childOptions as never)
  } as Log['child']
  return log

  function reportLost(lines: number, error: Error | undefined): void {
    log.warn(
      { ...(error && { err: error }) },
      `standard output could not be written: ${lines} lines of this log are lost`,
    )
  }
}

/** Writes a line that another thread has formatted. */
export function writeLine(log: Log, line: string): void {
  // Pino has no other way to its destination.
  const { [pino.symbols.streamSym]: target } = log as unknown as Record<symbol, DestinationStream>
  target?.write(line)
}

/** Replaces values whose name suggests a secret. */
function hideSecrets(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.includes('//') ? hideCredentials(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Error) return describeError(value, depth)
  if (depth >= maxDepth) return '[too deep]'
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, depth + 1))
  // A request or a socket holds its headers in too many places to redact.
  if (!isPlain(value)) return `[${value.constructor?.name ?? 'object'}]`
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      secretName.test(name) ? hidden : hideSecrets(inner, depth + 1),
    ]),
  )
}

/** Hides the credentials in `//user:password@host`. Linear time, because a line may contain text from clients. */
function hideCredentials(text: string): string {
  const [first = '', ...authorities] = text.split('//')
  const hiddenOnes = authorities.map((authority) => {
    const end = authority.search(/[/\s@]/)
    return end >= 0 && authority[end] === '@' ? `${hidden}${authority.slice(end)}` : authority
  })
  return [first, ...hiddenOnes].join('//')
}

function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || prototype.constructor === undefined
}

/** Only these fields, because errors of database drivers also carry statements and values. */
function describeError(error: Error & { code?: unknown }, depth: number): object {
  return {
    type: error.name,
    message: error.message,
    ...(error.code === undefined ? {} : { reason: String(error.code) }),
    stack: error.stack,
    ...(error.cause instanceof Error && depth < maxDepth ? { cause: describeError(error.cause, depth + 1) } : {}),
  }
}
