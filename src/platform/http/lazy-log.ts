/**
 * The log of one request. Creates its child logger, which costs microseconds, with the first line: most requests log
 * none.
 */
import type { Bindings, ChildLoggerOptions, LogFn } from 'pino'
import type { Log } from '../log/logger.ts'

type Method = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export class LazyLog {
  readonly #parent: Log
  readonly #bindings: Bindings
  #child: Log | undefined

  constructor(parent: Log, bindings: Bindings) {
    this.#parent = parent
    this.#bindings = bindings
  }

  get level(): string {
    return this.#parent.level
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): Log {
    return this.#getChild().child(bindings, options)
  }

  trace(...line: Parameters<LogFn>): void {
    this.#write('trace', line)
  }
  debug(...line: Parameters<LogFn>): void {
    this.#write('debug', line)
  }
  info(...line: Parameters<LogFn>): void {
    this.#write('info', line)
  }
  warn(...line: Parameters<LogFn>): void {
    this.#write('warn', line)
  }
  error(...line: Parameters<LogFn>): void {
    this.#write('error', line)
  }
  fatal(...line: Parameters<LogFn>): void {
    this.#write('fatal', line)
  }
  silent(): void {}

  #write(method: Method, line: Parameters<LogFn>): void {
    if (this.#parent.isLevelEnabled(method)) this.#getChild()[method](...line)
  }

  #getChild(): Log {
    this.#child ??= this.#parent.child(this.#bindings)
    return this.#child
  }
}
