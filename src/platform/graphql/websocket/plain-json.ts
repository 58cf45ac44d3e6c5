/**
 * The protocol of sockets without a subprotocol. The client sends `{"query", "variables"?, "operationName"?, "id"?}`
 * and receives `{"data": …}` for every value, with the id, if given, as the first key.
 */

import type { GraphQLFormattedError } from 'graphql'
import { concatUnpooled, unpooledParts } from '../../../core/unpooled-bytes.ts'
import type { GraphQLRequest } from '../execution/engine.types.ts'
import { memoizeList } from '../execution/memoize-list.ts'
import { frameOf } from './frames.ts'
import { maxIdLength, type OperationId, type Protocol } from './protocol.ts'
import type { SocketWriter } from './socket-writer.ts'

interface Message extends GraphQLRequest {
  id?: unknown
  type?: unknown
}

export function createPlainJson(): Protocol {
  const encodeFrames = memoizeList((texts) => concatUnpooled(texts.map(frameOf)))
  const encodeRests = memoizeList((texts) => unpooledParts(texts.map(restOf)))

  return {
    subprotocol: '',
    needsInit: false,

    receive(connection, given, size) {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return notAnObject(connection.writer)
      const { id: givenId, type, ...request }: Message = given
      const id = givenId ?? undefined
      if (!isId(id)) {
        const message = `"id" must be a number up to 2^53, or a string of at most ${maxIdLength} characters`
        return refuse(connection.writer, undefined, message)
      }
      if (type !== 'complete') return connection.start({ id, request, size })
      if (id === undefined) return refuse(connection.writer, undefined, '"complete" needs the "id" of what it ends')
      connection.complete(id)
    },

    receiveMalformed({ writer }) {
      refuse(writer, undefined, 'The message is not JSON as text')
    },

    prefixOf: (id) => (id === undefined ? '' : `{"id":${JSON.stringify(id)},`),

    sendValues(writer, { prefix }, texts) {
      if (prefix === '') writer.sendFrame(encodeFrames(texts))
      else writer.sendShared(prefix, encodeRests(texts))
    },

    sendResponse(writer, { prefix }, text) {
      if (prefix === '') writer.sendFrame(frameOf(text))
      else writer.sendShared(prefix, [Buffer.from(restOf(text))])
    },

    sendRefusal: (writer, id, errors) => writer.send({ id, errors }),

    sendEnd(writer, id, errors) {
      if (errors) writer.send({ id, errors })
      writer.send({ id, type: 'complete' })
    },

    sendDuplicateId({ writer }, id) {
      refuse(writer, id, 'An operation with this "id" is not over yet')
    },
  }
}

/** Without the opening brace, which is part of the prefix. */
function restOf(text: string): string {
  return text.slice(1)
}

type MessageWriter = Pick<SocketWriter, 'send'>

function notAnObject(writer: MessageWriter): void {
  refuse(writer, undefined, 'The message is not an object')
}

function refuse(writer: MessageWriter, id: OperationId | undefined, message: string): void {
  const errors: GraphQLFormattedError[] = [{ message, extensions: { code: 'BAD_REQUEST' } }]
  writer.send({ id, errors })
}

function isId(id: unknown): id is OperationId | undefined {
  // JSON.parse has rounded a larger number: the id sent back would be another one.
  return (
    id === undefined ||
    (Number.isFinite(id) && Math.abs(id as number) <= Number.MAX_SAFE_INTEGER) ||
    (typeof id === 'string' && id.length <= maxIdLength)
  )
}
