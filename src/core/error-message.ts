/** An error in a few words. Where a host name has several addresses, the outer error is empty and the inner ones tell. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join(', ')
  return error instanceof Error ? error.message : String(error)
}
