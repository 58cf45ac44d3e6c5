/** The protocol graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
import { unpooledParts } from '../../../core/unpooled-bytes.ts'
import { bearerOf } from '../../access/route-guards.ts'
import { memoizeList } from '../execution/memoize-list.ts'
import { closeReasons, subscriberExists } from './close-reasons.ts'
import { frameOf } from './frames.ts'
import { maxIdLength, type Protocol, type ProtocolConnection } from './protocol.ts'

interface Message {
  id?: unknown
  type?: unknown
  payload?: unknown
}

type Payload = Record<string, unknown>

export function createTransportProtocol(): Protocol {
  const encodeShared = memoizeList((texts) => unpooledParts(texts.map(closedOf)))

  return {
    subprotocol: 'graphql-transport-ws',
    needsInit: true,

    receive(connection, given, size) {
      const { type, id, payload = null } = isObject(given) ? (given as Message) : {}
      switch (type) {
        case 'connection_init':
          if (payload !== null && !isObject(payload)) break
          return initialise(connection, payload ?? {})
        case 'ping':
          if (payload !== null && !isObject(payload)) break
          return connection.writer.send({ type: 'pong', ...(payload !== null && { payload }) })
        case 'pong':
          if (payload !== null && !isObject(payload)) break
          return
        case 'subscribe':
          if (!isId(id) || !isRequest(payload)) break
          if (!connection.isReady) return connection.close(closeReasons.unauthorized)
          return connection.start({ id, request: payload, size })
        case 'complete':
          if (!isId(id)) break
          return connection.complete(id)
      }
      connection.close(closeReasons.badRequest)
    },

    receiveMalformed(connection) {
      connection.close(closeReasons.badRequest)
    },

    prefixOf: (id) => `{"id":${JSON.stringify(id)},"type":"next","payload":`,

    sendValues(writer, { prefix }, texts) {
      writer.sendShared(prefix, encodeShared(texts))
    },

    sendResponse(writer, { prefix, id }, text) {
      writer.sendShared(prefix, [Buffer.from(closedOf(text))], frameOf(JSON.stringify({ id, type: 'complete' })))
    },

    sendRefusal: (writer, id, errors) => writer.send({ id, type: 'error', payload: errors }),

    sendEnd: (writer, id, errors) =>
      writer.send(errors ? { id, type: 'error', payload: errors } : { id, type: 'complete' }),

    sendDuplicateId(connection, id) {
      connection.close(subscriberExists(String(id)))
    },
  }
}

/** With the brace that ends the message. */
function closedOf(text: string): string {
  return `${text}}`
}

function initialise(connection: ProtocolConnection, payload: Payload): void {
  if (!connection.beginInit()) {
    connection.close(closeReasons.tooManyInits)
    return
  }
  const acknowledge = () => {
    connection.isReady = true
    connection.writer.send({ type: 'connection_ack' })
  }
  const given = authorizationIn(payload)
  if (given === undefined) acknowledge()
  else connection.identify(isCredential(given) ? bearerOf(given) : undefined, acknowledge)
}

const authorizationKey = 'authorization'

/** The key is case-insensitive. A null under one spelling must not hide the token under another. */
function authorizationIn(payload: Payload): unknown {
  const isKey = (key: string) => key.length === authorizationKey.length && key.toLowerCase() === authorizationKey
  const name = Object.keys(payload).find((key) => isKey(key) && payload[key] !== null)
  return name === undefined ? undefined : payload[name]
}

/** For credentials in messages; those in headers are bounded by the header limit. */
const maxCredentialLength = 8 * 1024

function isCredential(given: unknown): given is string {
  return typeof given === 'string' && given.length <= maxCredentialLength
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= maxIdLength
}

/** Violations close the socket, as the protocol demands; whether the request can be executed is checked later. */
function isRequest(payload: unknown): payload is Payload {
  if (!isObject(payload)) return false
  const { query = null, variables = null, operationName = null, extensions = null } = payload
  // A persisted query has no `query`; it is refused as an error of the operation.
  return (
    (typeof query === 'string' || (query === null && isObject(extensions) && 'persistedQuery' in extensions)) &&
    (variables === null || isObject(variables)) &&
    (operationName === null || typeof operationName === 'string') &&
    (extensions === null || isObject(extensions))
  )
}
