/** The exit codes of sysexits.h that we use, so that a supervisor can tell what is worth a restart. */
export const exitCodes = {
  failure: 1,
  usage: 64,
  badData: 65,
  noInput: 66,
  unavailable: 69,
  internal: 70,
  cannotCreate: 73,
  configuration: 78,
  /** 128 and the number of the signal, as shells have it. */
  interrupted: 130,
  terminated: 143,
} as const

/** Ends a command: each of `lines` is shown to the person as it is, without a stack trace. */
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
