/** The protocol graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
import { bearerOf } from '../../access/route-guards.ts'
import { createLastMade } from '../execution/last-made.ts'
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
  const withBracket = createLastMade((text) => Buffer.from(`${text}}`))

  return {
    protocol: 'graphql-transport-ws',
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
          return connection.begin({ id, request: payload, size })
        case 'complete':
          if (!isId(id)) break
          return connection.complete(id)
      }
      connection.close(closeReasons.badRequest)
    },

    receiveBroken(connection) {
      connection.close(closeReasons.badRequest)
    },

    prefixOf: (id) => `{"id":${JSON.stringify(id)},"type":"next","payload":`,

    value(writer, { prefix }, text) {
      writer.sendShared(prefix, withBracket(text))
    },

    answer(writer, { prefix, id }, text) {
      writer.sendShared(prefix, withBracket(text), frameOf(JSON.stringify({ id, type: 'complete' })))
    },

    refused: (writer, id, errors) => writer.send({ id, type: 'error', payload: errors }),

    ended: (writer, id, errors) =>
      writer.send(errors ? { id, type: 'error', payload: errors } : { id, type: 'complete' }),

    repeated(connection, id) {
      connection.close(subscriberExists(String(id)))
    },
  }
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

/** Its key may be written in any case. Whoever has written it twice, once for nothing, is not taken for anonymous. */
function authorizationIn(payload: Payload): unknown {
  const isKey = (key: string) => key.length === authorizationKey.length && key.toLowerCase() === authorizationKey
  const name = Object.keys(payload).find((key) => isKey(key) && payload[key] !== null)
  return name === undefined ? undefined : payload[name]
}

/** Of a credential in a message; in a header it is bounded by the length of all headers. */
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

/** What the protocol makes an error of the socket. Whether it can be executed is an error of the operation. */
function isRequest(payload: unknown): payload is Payload {
  if (!isObject(payload)) return false
  const { query = null, variables = null, operationName = null, extensions = null } = payload
  // Without a query there may be the hash of one, which is an error of the operation too.
  return (
    (typeof query === 'string' || (query === null && isObject(extensions) && 'persistedQuery' in extensions)) &&
    (variables === null || isObject(variables)) &&
    (operationName === null || typeof operationName === 'string') &&
    (extensions === null || isObject(extensions))
  )
}
