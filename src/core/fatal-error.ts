/** Exit codes of sysexits.h, so that a supervisor can tell which failures are worth a restart. */
export const exitCodes = {
  failure: 1,
  usage: 64,
  badData: 65,
  noInput: 66,
  unavailable: 69,
  internal: 70,
  cannotCreate: 73,
  configuration: 78,
  /** 128 plus the signal number, as in shells. */
  interrupted: 130,
  terminated: 143,
} as const

/** Ends a command. Each of `lines` is printed as it is, without a stack trace. */
export class FatalError extends Error {
  override readonly name = 'FatalError'
  readonly lines: readonly string[]
  readonly exitCode: number

  constructor(lines: string | readonly string[], exitCode: number, options?: ErrorOptions) {
    const all = typeof lines === 'string' ? [lines] : lines
    super(all.join('\n'), options)
    this.lines = all
    this.exitCode = exitCode
  }
}
