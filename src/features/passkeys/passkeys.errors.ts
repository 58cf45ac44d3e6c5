import { AppError } from '../../core/app-error.ts'

export const passkeyErrors = {
  /** A new passkey whose response does not verify, or whose challenge is over. */
  invalidPasskey: () => new AppError(401, 'Invalid passkey'),
  alreadyRegistered: () => new AppError(409, 'Passkey already registered'),
  tooMany: () => new AppError(409, 'Too many passkeys'),
}
