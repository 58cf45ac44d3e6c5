import https from 'node:https'
import { Agent as HttpAgent } from '../http/node-http.ts'

/**
 * A connection that is used for several requests, one after the other. It leads where it led when its address was checked,
 * whatever the name resolves to meanwhile. After a minute the name is resolved, and its addresses checked, again.
 */
export interface KeptConnection {
  /** The agent of an open connection that can be used for this URL. */
  find(url: URL): HttpAgent | undefined
  /** For a new connection, in place of the one before. */
  renew(url: URL): HttpAgent
  close(): void
}

const maxAgeMs = 60_000
/** Shorter than most servers wait for the next request: the common default is 5 s. */
const maxIdleMs = 4000
const connectAttemptMs = 2000

export function createKeptConnection(): KeptConnection {
  let current: { agent: HttpAgent; origin: string; since: number } | undefined

  return {
    find({ origin }) {
      if (current?.origin !== origin || performance.now() - current.since > maxAgeMs) return undefined
      const sockets = Object.values(current.agent.freeSockets).flatMap((list) => list ?? [])
      return sockets.some((socket) => socket.writable && socket.readable) ? current.agent : undefined
    },

    renew(url) {
      current?.agent.destroy()
      const agent = createAgent(url, { keepAlive: true, timeout: maxIdleMs })
      current = { agent, origin: url.origin, since: performance.now() }
      return agent
    },

    close: () => current?.agent.destroy(),
  }
}

/**
 * A new one for each connection. It keeps no TLS session, whose ticket, chosen by a server, would be sent to whatever the name
 * resolves to next. Without proxyEnv, because a proxy would resolve the name again.
 */
export function createAgent({ protocol }: URL, kept?: { keepAlive: true; timeout: number }): HttpAgent {
  const options = {
    keepAlive: false,
    ...kept,
    maxCachedSessions: 0,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectAttemptMs,
  }
  return protocol === 'https:' ? new https.Agent(options) : new HttpAgent(options)
}
