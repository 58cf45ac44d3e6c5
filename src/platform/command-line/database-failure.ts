import { AppError } from '../../core/app-error.ts'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

/** A database that went away, or has no room, in one line that says what to do; other errors stay as they are. */
export function describeFailure(error: unknown, advice: string): unknown {
  if (!(error instanceof AppError) || error.status !== 503) return error
  return new FatalError(`the database failed: ${errorMessage(error.cause)}; ${advice}`, exitCodes.unavailable, {
    cause: error,
  })
}
