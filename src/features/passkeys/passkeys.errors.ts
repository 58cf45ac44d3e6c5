import { AppError } from '../../core/app-error.ts'

export const passkeyErrors = {
  /** The response for a new passkey does not verify, or its challenge has expired or was used. */
  invalidPasskey: () => new AppError(401, 'Invalid passkey'),
  alreadyRegistered: () => new AppError(409, 'Passkey already registered'),
  tooMany: () => new AppError(409, 'Too many passkeys'),
}
