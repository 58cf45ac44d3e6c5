import { AppError } from '../../core/app-error.ts'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

/** Turns a database that is unavailable or full into one line with advice. Returns other errors unchanged. */
export function describeFailure(error: unknown, advice: string): unknown {
  if (!(error instanceof AppError) || error.status !== 503) return error
  return new FatalError(`the database failed: ${errorMessage(error.cause)}; ${advice}`, exitCodes.unavailable, {
    cause: error,
  })
}
