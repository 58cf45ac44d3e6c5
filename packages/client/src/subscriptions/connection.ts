/** What the two ways of receiving the values of a subscription have in common. */
import type { GraphQLErrorEntry, GraphQLRequestError } from '../errors.ts'
import type { GraphQLResult, GraphQLVariables } from '../graphql.ts'

export interface ConnectionOptions {
  /** Of the service. */
  url: string
  token: string | undefined
  payload: { query: string; variables: GraphQLVariables }
  signal: AbortSignal
  onOpen(): void
}

/**
 * The results of one connection. It returns when the service has ended the subscription; a refusal by the service is a
 * GraphQLRequestError. Throws ConnectionLost or TokenRefused otherwise.
 */
export type Connect = (options: ConnectionOptions) => AsyncGenerator<GraphQLResult, void>

/** It is worth trying again. */
export class ConnectionLost extends Error {}

/** The token is invalid, has expired, or was revoked. */
export class TokenRefused extends Error {}

const hasCode = ({ errors }: Pick<GraphQLRequestError, 'errors'>, code: string) =>
  errors.some(({ extensions }: GraphQLErrorEntry) => extensions?.code === code)

/** The service stops, or its database is away. */
export const isTemporaryRefusal = (error: GraphQLRequestError) => hasCode(error, 'SERVICE_UNAVAILABLE')

/** How an event stream ends when its token does; a socket is closed. */
export const isTokenRefusal = (error: GraphQLRequestError) => hasCode(error, 'UNAUTHENTICATED')
