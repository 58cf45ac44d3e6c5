/** Node's AggregateError has an empty message when a host name with several addresses cannot be reached. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join(', ')
  return error instanceof Error ? error.message : String(error)
}
