import { exitCodes, FatalError } from '../../core/fatal-error.ts'

export interface ListenTarget {
  host: string
  port: number
  /** Lets other threads listen on the same port. */
  reusePort: boolean
}

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'no such address on this machine',
  ENOTFOUND: 'no such host',
}

/** Returns a one-line error for the operator; unknown errors are returned unchanged. */
export function describeListenError(error: unknown, { host, port }: Pick<ListenTarget, 'host' | 'port'>): unknown {
  const reason = problems[(error as NodeJS.ErrnoException).code ?? '']
  if (reason === undefined) return error
  return new FatalError(`cannot listen on ${host}, port ${port}: ${reason}`, exitCodes.unavailable, { cause: error })
}
