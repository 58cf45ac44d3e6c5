/**
 * The protocol of a socket without a sub-protocol. The client sends `{"query", "variables"?, "operationName"?, "id"?}`
 * and gets `{"data": …}` for every value; what had an id is answered with it, as the first key.
 */
import type { GraphQLFormattedError } from 'graphql'
import type { GraphQLRequest } from '../execution/engine.types.ts'
import { createLastMade } from '../execution/last-made.ts'
import { frameOf } from './frames.ts'
import { maxIdLength, type OperationId, type Protocol, type ProtocolOperation } from './protocol.ts'
import type { SocketWriter } from './socket-writer.ts'

interface Message extends GraphQLRequest {
  id?: unknown
  type?: unknown
}

export function createPlainJson(): Protocol {
  const wholeFrame = createLastMade(frameOf)
  // All but the bracket that the id is put behind.
  const allButFirst = createLastMade((text) => Buffer.from(text.slice(1)))

  function sendText(writer: SocketWriter, { prefix }: ProtocolOperation, text: string): void {
    if (prefix === '') writer.sendFrame(wholeFrame(text))
    else writer.sendShared(prefix, allButFirst(text))
  }

  return {
    protocol: '',
    needsInit: false,

    receive(connection, given, size) {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return notAnObject(connection.writer)
      const { id: givenId, type, ...request }: Message = given
      const id = givenId ?? undefined
      if (!isId(id)) {
        const message = `"id" must be a number up to 2^53, or a string of at most ${maxIdLength} characters`
        return refuse(connection.writer, undefined, message)
      }
      if (type !== 'complete') return connection.begin({ id, request, size })
      if (id === undefined) return refuse(connection.writer, undefined, '"complete" needs the "id" of what it ends')
      connection.complete(id)
    },

    receiveBroken({ writer }) {
      refuse(writer, undefined, 'The message is not JSON as text')
    },

    prefixOf: (id) => (id === undefined ? '' : `{"id":${JSON.stringify(id)},`),

    value: sendText,
    answer: sendText,

    refused: (writer, id, errors) => writer.send({ id, errors }),

    ended(writer, id, errors) {
      if (errors) writer.send({ id, errors })
      writer.send({ id, type: 'complete' })
    },

    repeated({ writer }, id) {
      refuse(writer, id, 'An operation with this "id" is not over yet')
    },
  }
}

type Sends = { send(message: object): void }

function notAnObject(writer: Sends): void {
  refuse(writer, undefined, 'The message is not an object')
}

function refuse(writer: Sends, id: OperationId | undefined, message: string): void {
  const errors: GraphQLFormattedError[] = [{ message, extensions: { code: 'BAD_REQUEST' } }]
  writer.send({ id, errors })
}

function isId(id: unknown): id is OperationId | undefined {
  // A larger number has been rounded by now: it would come back as another one.
  return (
    id === undefined ||
    (Number.isFinite(id) && Math.abs(id as number) <= Number.MAX_SAFE_INTEGER) ||
    (typeof id === 'string' && id.length <= maxIdLength)
  )
}
