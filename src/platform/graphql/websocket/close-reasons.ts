/**
 * Close codes of RFC 6455, section 7.4.1, and of graphql-transport-ws, used by both protocols. `ws` itself closes
 * sockets that send invalid UTF-8 (1007).
 */
export interface CloseReason {
  readonly code: number
  readonly text: string
}

export const closeReasons = {
  goingAway: { code: 1001, text: 'Going away' },
  tooLong: { code: 1009, text: 'Message too long' },
  unavailable: { code: 1013, text: 'Try again later' },
  tooSlow: { code: 1013, text: 'Too slow: more waits to be read than is kept' },
  addressFull: { code: 1013, text: 'The address holds too many bytes' },
  badRequest: { code: 4400, text: 'Invalid message received' },
  unauthorized: { code: 4401, text: 'Unauthorized' },
  forbidden: { code: 4403, text: 'Forbidden' },
  protocolNotAcceptable: { code: 4406, text: 'Subprotocol not acceptable' },
  initTimeout: { code: 4408, text: 'Connection initialisation timeout' },
  messageTimeout: { code: 4408, text: 'Message not finished in time' },
  tooManyInits: { code: 4429, text: 'Too many initialisation requests' },
  internal: { code: 4500, text: 'Internal server error' },
} satisfies Record<string, CloseReason>

/** Limit of a control frame without the code: RFC 6455, section 5.5. */
const maxTextBytes = 123

export function subscriberExists(id: string): CloseReason {
  const text = `Subscriber for ${id} already exists`
  return { code: 4409, text: Buffer.byteLength(text) <= maxTextBytes ? text : 'Subscriber already exists' }
}
