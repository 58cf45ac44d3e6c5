import { AppError } from '../../core/app-error.ts'
import { credentialErrors } from '../../core/credential-errors.ts'

export const authErrors = {
  ...credentialErrors,
  invalidRefreshToken: () => new AppError(401, 'Invalid refresh token'),
  invalidChallenge: () => new AppError(401, 'Invalid challenge token'),
  invalidResetToken: () => new AppError(401, 'Invalid reset token'),
}
