/** GraphQL subscriptions that connect again by themselves. */
import type { Access } from '../access.ts'
import { GraphQLRequestError, LatchkeyError } from '../errors.ts'
import type { GraphQLDocument, GraphQLVariables } from '../graphql.ts'
import { backoffMs, sleep } from '../waiting.ts'
import { type Connect, ConnectionLost, isTemporaryRefusal, isTokenRefusal, TokenRefused } from './connection.ts'

export interface SubscribeOptions<Data> {
  /** A function is called for each connection with the last value, so that a subscription can go on from there. */
  variables?: GraphQLVariables | ((last: Data | undefined) => GraphQLVariables)
  /** Ends the iteration. */
  signal?: AbortSignal
  /** Called for each connection. What was published since the last one was lost has not been received. */
  onOpen?(): void
}

const never = new AbortController().signal

export function createSubscribe({ url, access, connect }: { url: string; access: Access; connect: Connect }) {
  /** The values of a subscription, until the service or the signal ends it. */
  return async function* subscribe<Data = unknown>(
    document: GraphQLDocument,
    options: SubscribeOptions<Data> = {},
  ): AsyncGenerator<Data, void> {
    const { variables = {}, signal = never, onOpen = () => {} } = options
    let last: Data | undefined
    for (let failures = 0; !signal.aborted; ) {
      let token: string | undefined
      try {
        token = await access.findToken()
        const present = typeof variables === 'function' ? variables(last) : variables
        const payload = { query: String(document), variables: present }
        for await (const { data, errors } of connect({ url, token, payload, signal, onOpen })) {
          failures = 0
          if (errors) throw new GraphQLRequestError(errors, data)
          last = data as Data
          yield last
          if (signal.aborted) return
        }
        return
      } catch (error) {
        if (signal.aborted) return
        if (token !== undefined && isRefusedToken(error)) await renew(token)
        else if (!isWorthRepeating(error)) throw error
      }
      await sleep(backoffMs(failures++), signal)
    }
  }

  /** If the service cannot be reached, the next connection finds that out, too. */
  async function renew(token: string): Promise<void> {
    await access.renew(token).catch((error: unknown) => {
      if (!isWorthRepeating(error)) throw error
    })
  }
}

function isRefusedToken(error: unknown): boolean {
  return error instanceof TokenRefused || (error instanceof GraphQLRequestError && isTokenRefusal(error))
}

function isWorthRepeating(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true
  if (error instanceof GraphQLRequestError) return isTemporaryRefusal(error)
  return error instanceof LatchkeyError && error.isTemporary
}
