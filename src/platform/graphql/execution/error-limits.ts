/** Limits how much of a request its errors repeat: graphql-js prints whole values and names. */
import type { GraphQLFormattedError } from 'graphql'

const maxMessage = 200

/** A field conflict lists every location involved. */
const maxLocations = 10

/** Messages have the problem at the start, the reason at the end, and the client's input in between. */
const keptEnd = 80

const gap = ' … '

export function limitError(error: GraphQLFormattedError): GraphQLFormattedError {
  const { message, locations } = error
  const isLong = message.length > maxMessage
  const isScattered = locations !== undefined && locations.length > maxLocations
  if (!isLong && !isScattered) return error
  return {
    ...error,
    message: shorten(message),
    ...(isScattered && { locations: locations.slice(0, maxLocations) }),
  }
}

export function shorten(message: string): string {
  if (message.length <= maxMessage) return message
  const start = message.slice(0, maxMessage - keptEnd - gap.length)
  // The cut may split a surrogate pair.
  return `${start}${gap}${message.slice(-keptEnd)}`.toWellFormed()
}

/** Prints a value for a message. Lists and objects are not traversed: they may be as large as the request. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > maxMessage ? value.slice(0, maxMessage) : value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]'
  return typeof value === 'object' && value !== null ? '{…}' : String(value)
}
