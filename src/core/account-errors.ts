/** Errors about accounts that several features return. */
import { AppError } from './app-error.ts'

export const accountErrors = {
  emailTaken: () =>
    new AppError(409, 'Email already registered', { extra: { details: { email: ['Email already registered'] } } }),
  lastAdministrator: () => new AppError(409, 'Last administrator'),
  /** Rows of an extension may refer to the user. */
  stillReferredTo: () => new AppError(409, 'User is still referred to'),
}
