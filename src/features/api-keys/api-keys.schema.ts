import type { Clock } from '../../core/clock.ts'
import { Type } from '../../platform/validation/schema-builder.ts'

export interface NewKeyBody {
  name: string
  permissions?: string[]
  expires_at?: string
}

export const maxNameLength = 100
export const maxPermissions = 100
const maxPermissionLength = 200
/** Of the year 9999, in Unix seconds. */
export const lastSecond = 253_402_300_799

/** The body of a request for a new key. */
export function createNewKeySchema(clock: Clock) {
  return Type.Object({
    name: Type.String({ 'x-not-blank': true, maxLength: maxNameLength }),
    permissions: Type.Optional(
      Type.Array(Type.String({ maxLength: maxPermissionLength, 'x-check': findPermissionProblems }), {
        maxItems: maxPermissions,
      }),
    ),
    expires_at: Type.Optional(
      Type.String({ 'x-check': (given: string) => findExpiryProblems(given, clock.nowSeconds()) }),
    ),
  })
}

/** As in roles: `*`, `posts.*` or `posts.view`. A star elsewhere would not be a wildcard, so it is refused. */
const permissionPattern = /^(?:\*|[^*\p{Cc}]+(?:\.\*)?)$/u

function findPermissionProblems(given: string): string[] {
  return given === given.trim() && permissionPattern.test(given)
    ? []
    : ['Must be a permission such as posts.view or posts.*']
}

/** The RFC 3339 profile of ISO 8601: date, time and time zone. */
const timePattern =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

function findExpiryProblems(given: string, now: number): string[] {
  const end = parseTime(given)
  if (end === undefined) return ['Must be a time in ISO 8601, such as 2030-01-31T12:00:00Z']
  return end > now ? [] : ['Must be in the future']
}

/** Returns Unix seconds, or undefined for an invalid time, such as one on February 30. */
export function parseTime(given: string): number | undefined {
  const date = timePattern.exec(given)?.[1]
  if (date === undefined) return undefined
  const day = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return undefined
  const seconds = Math.floor(Date.parse(given) / 1000)
  // By its offset, a time may be in the year 10000, which ISO 8601 cannot write.
  return seconds <= lastSecond ? seconds : undefined
}
