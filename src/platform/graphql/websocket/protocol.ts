/** The two languages that sockets speak. A connection does the work; a protocol reads and writes the messages. */
import type { GraphQLFormattedError } from 'graphql'
import type { GraphQLRequest } from '../execution/engine.types.ts'
import type { CloseReason } from './close-reasons.ts'
import type { SocketWriter } from './socket-writer.ts'

/** By which a client tells its operations apart. */
export type OperationId = string | number

/** Of an id. It is kept, and sent with every value. */
export const maxIdLength = 256

/** What a message asks for. */
export interface Begin {
  id: OperationId | undefined
  request: GraphQLRequest
  /** The length of the message, in bytes. */
  size: number
}

/** What a protocol knows of a connection. */
export interface ProtocolConnection {
  readonly writer: SocketWriter
  isReady: boolean
  begin(begin: Begin): void
  complete(id: OperationId): void
  /** Returns false where the client has introduced itself before. */
  beginInit(): boolean
  identify(token: string | undefined, onDone?: () => void): void
  close(reason: CloseReason): void
}

/** What a protocol knows of an operation. */
export interface ProtocolOperation {
  readonly id: OperationId | undefined
  readonly prefix: string
}

export interface Protocol {
  /** Empty for the one that is spoken where none is asked for. */
  readonly protocol: string
  /** Nothing is served before the client has introduced itself. */
  readonly needsInit: boolean
  /** `message` is the client's JSON, `size` its length in bytes. */
  receive(connection: ProtocolConnection, message: unknown, size: number): void
  /** The message is no JSON. */
  receiveBroken(connection: ProtocolConnection): void
  /** What stands before every value of an operation: the part that is not the same for all. */
  prefixOf(id: OperationId | undefined): string
  /** A value of a subscription. */
  value(writer: SocketWriter, operation: ProtocolOperation, text: string): void
  /** The answer to a query or a mutation, which is over. */
  answer(writer: SocketWriter, operation: ProtocolOperation, text: string): void
  /** An operation that did not begin. */
  refused(writer: SocketWriter, id: OperationId | undefined, errors: readonly GraphQLFormattedError[]): void
  /** A subscription has ended by itself; with errors, because it had to. */
  ended(writer: SocketWriter, id: OperationId | undefined, errors: readonly GraphQLFormattedError[] | undefined): void
  /** The id belongs to an operation that is not over. */
  repeated(connection: ProtocolConnection, id: OperationId): void
}
