import { AppError } from '../../../core/app-error.ts'

/** Replaces the short texts of API errors, by their codes, with full sentences for a page. */
export function reword(error: unknown, sentences: Readonly<Record<string, string>>): unknown {
  const text = error instanceof AppError && Object.hasOwn(sentences, error.code) ? sentences[error.code] : undefined
  return error instanceof AppError && text !== undefined ? new AppError(error.status, text) : error
}
