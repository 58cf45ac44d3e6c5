/** A protocol parses and formats the messages of a socket; its Connection does the work. */
import type { GraphQLFormattedError } from 'graphql'
import type { GraphQLRequest } from '../execution/engine.types.ts'
import type { CloseReason } from './close-reasons.ts'
import type { SocketWriter } from './socket-writer.ts'

/** Chosen by the client. */
export type OperationId = string | number

/** Ids are kept, and sent with every value. */
export const maxIdLength = 256

/** A client's message that starts an operation. */
export interface OperationStart {
  id: OperationId | undefined
  request: GraphQLRequest
  /** The length of the message, in bytes. */
  size: number
}

export interface ProtocolConnection {
  readonly writer: SocketWriter
  isReady: boolean
  start(operation: OperationStart): void
  complete(id: OperationId): void
  /** Returns false for a second connection_init. */
  beginInit(): boolean
  identify(token: string | undefined, onDone?: () => void): void
  close(reason: CloseReason): void
}

export interface ProtocolOperation {
  readonly id: OperationId | undefined
  readonly prefix: string
}

export interface Protocol {
  /** Empty for the protocol of sockets without a subprotocol. */
  readonly subprotocol: string
  /** Whether operations are refused before connection_init. */
  readonly needsInit: boolean
  /** `message` is parsed JSON, `size` its length in bytes. */
  receive(connection: ProtocolConnection, message: unknown, size: number): void
  /** For messages that are not JSON text. */
  receiveMalformed(connection: ProtocolConnection): void
  /**
   * The beginning of every value message, which is specific to the operation; the rest is shared by all subscribers.
   */
  prefixOf(id: OperationId | undefined): string
  /** Values of a subscription, in a list that all identical ones get. */
  sendValues(writer: SocketWriter, operation: ProtocolOperation, texts: readonly string[]): void
  /** The response to a query or mutation, which ends it. */
  sendResponse(writer: SocketWriter, operation: ProtocolOperation, text: string): void
  /** For an operation that was not started. */
  sendRefusal(writer: SocketWriter, id: OperationId | undefined, errors: readonly GraphQLFormattedError[]): void
  /** The source of a subscription has ended, or failed with `errors`. */
  sendEnd(writer: SocketWriter, id: OperationId | undefined, errors: readonly GraphQLFormattedError[] | undefined): void
  /** For an id that a running operation has. */
  sendDuplicateId(connection: ProtocolConnection, id: OperationId): void
}
