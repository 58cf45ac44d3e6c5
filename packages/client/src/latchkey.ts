import { createAccess } from './access.ts'
import { createApi } from './api.ts'
import { createChanges, createFollowChanges } from './changes.ts'
import { type AnyTypes, type CollectionClient, type CollectionsOf, createCollection } from './collections.ts'
import { createGraphQL } from './graphql.ts'
import { createProducts } from './products.ts'
import { createRefresh } from './refresh.ts'
import { createSend } from './send.ts'
import { createSession } from './session.ts'
import { createSignIn } from './sign-in.ts'
import { memoryStorage } from './storage/memory.ts'
import type { LatchkeyStorage } from './storage/storage.ts'
import { createEventStreamConnect } from './subscriptions/event-stream.ts'
import { createSocketConnect } from './subscriptions/socket.ts'
import { createSubscribe } from './subscriptions/subscribe.ts'

export interface LatchkeyOptions {
  /** Of the service, such as `https://api.example.com`. */
  url: string
  /** Where the session is kept; by default in memory. */
  storage?: LatchkeyStorage
  /** For programs that have a key instead of a session. */
  apiKey?: string
  fetch?: typeof globalThis.fetch
  /** For subscriptions; `null` uses server-sent events instead. */
  WebSocket?: typeof globalThis.WebSocket | null
}

export type Latchkey<Module = unknown> = ReturnType<typeof createLatchkey<Module>>

/** What is known of a name: of all names, if no module says which collections there are. */
type TypesOfName<Module, Name> = unknown extends Module
  ? AnyTypes
  : Name extends keyof CollectionsOf<Module>
    ? CollectionsOf<Module>[Name]
    : never

type NameOf<Module> = unknown extends Module ? string : keyof CollectionsOf<Module> & string

/** `Module` is that of your collections: `createLatchkey<typeof import('./helpdesk.ts')>(…)`. */
export function createLatchkey<Module = unknown>(options: LatchkeyOptions) {
  const { storage = memoryStorage(), WebSocket = globalThis.WebSocket, apiKey } = options
  const url = options.url.endsWith('/') ? options.url.slice(0, -1) : options.url
  // Looked up at each call, and called without `this`, which browsers insist on. The service redirects nowhere; a redirect by
  // something in between would take tokens and passwords to another host.
  const fetch: typeof globalThis.fetch = (input, init) =>
    (options.fetch ?? globalThis.fetch)(input, { ...init, redirect: 'error' })
  const session = createSession({ storage })
  const refresh = createRefresh({ url, fetch, storage, session })
  const access = createAccess({ fetch, session, refresh, apiKey })
  const api = createApi(url, access.send)
  const anonymous = createApi(url, access.sendOnce)
  const send = createSend({ url, access })
  const follow = createFollowChanges(send)
  const connect = WebSocket ? createSocketConnect(WebSocket) : createEventStreamConnect(fetch)
  return {
    ...createSignIn({ anonymous, api, session }),
    /** Who is signed in, or why nobody is. */
    session: session.status,
    /** Calls the listener with the status of now and after each change, also by other tabs. Returns a function that ends this. */
    onSession: session.onChange,
    products: createProducts({ api }),
    graphql: createGraphQL({ url, access }),
    subscribe: createSubscribe({ url, access, connect }),
    changes: createChanges(follow),
    /** Rows of a collection. `path` is needed where it is not `/api/<name>`. */
    collection: <Name extends NameOf<Module>>(name: Name, where: { path?: string } = {}) =>
      createCollection({ send, follow }, name, where) as unknown as CollectionClient<TypesOfName<Module, Name>>,
    /** Every operation of the service, typed: an openapi-fetch client. */
    api,
  }
}
