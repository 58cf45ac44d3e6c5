/** Errors of every endpoint that checks a password, a code or another credential. Features share them so that the bodies are identical. */
import { AppError } from './app-error.ts'

export const credentialErrors = {
  invalidCredentials: () => new AppError(401, 'Invalid credentials'),
  emailNotVerified: () => new AppError(403, 'Email not verified'),
  invalidCode: () => new AppError(401, 'Invalid two-factor code'),
  invalidVerificationToken: () => new AppError(401, 'Invalid verification token'),
  locked: (until: number) =>
    new AppError(423, 'Account temporarily locked after too many failed attempts', {
      code: 'account_locked',
      extra: { locked_until: until },
    }),
}
