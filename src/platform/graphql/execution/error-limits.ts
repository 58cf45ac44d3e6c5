/** How much of a request its errors may repeat, whoever words them: graphql-js prints whole values and names. */
import type { GraphQLFormattedError } from 'graphql'

/** Of a whole message, so that no more than this of what was sent can be in it. */
const maxMessage = 200

/** A conflict between fields names every place that takes part in it. */
const maxLocations = 10

/** The start tells what is wrong and the end why; what was sent stands in between. */
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
  // A cut may fall between the two halves of a character.
  return `${start}${gap}${message.slice(-keptEnd)}`.toWellFormed()
}

/** A value as part of a message. Lists and objects are not walked: they may be as large as a request. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > maxMessage ? value.slice(0, maxMessage) : value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]'
  return typeof value === 'object' && value !== null ? '{…}' : String(value)
}
