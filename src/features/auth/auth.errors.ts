import { AppError } from '../../core/app-error.ts'

export const authErrors = {
  invalidCredentials: () => new AppError(401, 'Invalid credentials'),
  invalidRefreshToken: () => new AppError(401, 'Invalid refresh token'),
  invalidChallenge: () => new AppError(401, 'Invalid challenge token'),
  invalidCode: () => new AppError(401, 'Invalid two-factor code'),
  invalidResetToken: () => new AppError(401, 'Invalid reset token'),
  locked: (until: number) =>
    new AppError(423, 'Account temporarily locked after too many failed attempts', { extra: { locked_until: until } }),
}
