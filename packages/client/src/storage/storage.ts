/** What a client keeps, and the interface of the places where it can be kept. */

/** Plain data: it can be stored as JSON. */
export interface StoredState {
  session?: StoredSession | undefined
  /** How the last session ended. */
  ended?: SessionEnd | undefined
  /** Device tokens by email; `''` has that of a login by passkey. */
  devices?: Readonly<Record<string, string>> | undefined
  /** Who is refreshing, where there are no Web Locks. */
  lease?: { owner: string; until: number } | undefined
}

export interface StoredSession {
  accessToken: string
  refreshToken: string
  /** From when on the access token is replaced before it is used, in milliseconds of this machine's clock. */
  staleAt: number
  userId: number
  /** The id of the session, the same for all of its tokens. */
  family: string
  /** The email that it was made with; `''` for a passkey. */
  account: string
  /** A refresh that was sent, or is about to be. Whoever goes on with it sends the same key. */
  refresh?: { key: string; since: number } | undefined
}

export interface SessionEnd {
  reason: EndReason
  /** Unix time in milliseconds. */
  at: number
}

/**
 * `signed_out`: by `logout()`, here or in another tab. `interrupted`: a refresh was cut off, and not repeated within a minute;
 * the service cannot tell that from theft. `unknown`: the service does not say. The others are the service's own words.
 */
export type EndReason =
  | 'signed_out'
  | 'logout'
  | 'everywhere'
  | 'password_change'
  | 'administrator'
  | 'reuse'
  | 'expiry'
  | 'interrupted'
  | 'unknown'

/** One for each session. All clients that use the same place share the session. */
export interface LatchkeyStorage {
  read(): Promise<StoredState>
  /**
   * Replaces the state by what `change` returns, unless that is the same object, and returns it. Nobody else may change it
   * between the read and the write, and it must be stored when the promise resolves: a request follows that depends on it.
   */
  update(change: (state: StoredState) => StoredState): Promise<StoredState>
  /** Calls the listener after changes by others, if it can. Returns a function that ends this. */
  watch?(listener: () => void): () => void
  /** The name of a Web Lock that reaches everybody who shares this place. Without one, a lease in the state is used. */
  readonly webLock?: string
  /** Nobody else can see this place, so nobody needs to be kept out. */
  readonly isPrivate?: boolean
  /** The key with which this refresh token is presented. By default a random one, which is stored before it is sent. */
  retryKey?(refreshToken: string): Promise<string>
}
