/**
 * The dialect of a socket without a sub-protocol. The client sends `{"query", "variables"?, "operationName"?, "id"?}`
 * and gets `{"data": …}` for every value; what had an id is answered with it, as the first key.
 */
import type { GraphQLFormattedError } from 'graphql'
import type { GraphQLRequest } from '../engine.ts'
import { createLastMade } from '../last-made.ts'
import { type Dialect, maxIdLength, type OperationId } from './dialect.ts'
import { frameOf } from './frames.ts'
import type { Operation } from './operation.ts'
import type { Wire } from './wire.ts'

interface Message extends GraphQLRequest {
  id?: unknown
  type?: unknown
}

export function createRawDialect(): Dialect {
  const wholeFrame = createLastMade(frameOf)
  // All but the bracket that the id is put behind.
  const allButFirst = createLastMade((text) => Buffer.from(text.slice(1)))

  function sendText(wire: Wire, { prefix }: Operation, text: string): void {
    if (prefix === '') wire.sendFrame(wholeFrame(text))
    else wire.sendShared(prefix, allButFirst(text))
  }

  return {
    protocol: '',
    needsInit: false,

    receive(connection, given, size) {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return notAnObject(connection.wire)
      const { id: givenId, type, ...request }: Message = given
      const id = givenId ?? undefined
      if (!isId(id)) {
        const message = `"id" must be a number up to 2^53, or a string of at most ${maxIdLength} characters`
        return refuse(connection.wire, undefined, message)
      }
      if (type !== 'complete') return connection.begin({ id, request, size })
      if (id === undefined) return refuse(connection.wire, undefined, '"complete" needs the "id" of what it ends')
      connection.complete(id)
    },

    receiveBroken({ wire }) {
      refuse(wire, undefined, 'The message is not JSON as text')
    },

    prefixOf: (id) => (id === undefined ? '' : `{"id":${JSON.stringify(id)},`),

    value: sendText,
    answer: sendText,

    refused: (wire, id, errors) => wire.send({ id, errors }),

    ended(wire, id, errors) {
      if (errors) wire.send({ id, errors })
      wire.send({ id, type: 'complete' })
    },

    repeated({ wire }, id) {
      refuse(wire, id, 'An operation with this "id" is not over yet')
    },
  }
}

type Sends = { send(message: object): void }

function notAnObject(wire: Sends): void {
  refuse(wire, undefined, 'The message is not an object')
}

function refuse(wire: Sends, id: OperationId | undefined, message: string): void {
  const errors: GraphQLFormattedError[] = [{ message, extensions: { code: 'BAD_REQUEST' } }]
  wire.send({ id, errors })
}

function isId(id: unknown): id is OperationId | undefined {
  // A larger number has been rounded by now: it would come back as another one.
  return (
    id === undefined ||
    (Number.isFinite(id) && Math.abs(id as number) <= Number.MAX_SAFE_INTEGER) ||
    (typeof id === 'string' && id.length <= maxIdLength)
  )
}
