/**
 * For a server of one's own, which keeps the session of a browser in a cookie that no script can read. One storage, and one
 * client, for each request that the server handles.
 */
import type { LatchkeyStorage, StoredState } from './storage.ts'

export interface CookieOptions {
  /** The `Cookie` header of the request. */
  cookies: string | null | undefined
  /** Adds a `Set-Cookie` header to the response. Called again with a later value if the session changes again. */
  setCookie(header: string): void
  /**
   * A secret of the server. Requests of one browser come at the same time with the same cookie, and must refresh it with the
   * same key; whoever steals a refresh token must not be able to guess that key.
   */
  secret: string
  name?: string
  /** False for development without https. */
  secure?: boolean
}

const maxAgeSeconds = 180 * 86_400
/** Cookies have at most 4096 bytes. */
const maxDevices = 3

export function cookieStorage(options: CookieOptions): LatchkeyStorage {
  const { cookies, setCookie, secret, secure = true } = options
  const { name = secure ? '__Host-latchkey' : 'latchkey' } = options
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  let state = parse(findCookie(cookies ?? '', name))
  return {
    isPrivate: true,
    read: async () => state,
    async update(change) {
      const before = state
      state = change(before)
      if (state === before) return state
      const isEmpty = state.session === undefined && state.devices === undefined && state.ended === undefined
      setCookie(`${name}=${isEmpty ? '' : format(state)}; Max-Age=${isEmpty ? 0 : maxAgeSeconds}${attributes}`)
      return state
    },
    retryKey: (refreshToken) => sign(secret, refreshToken),
  }
}

function findCookie(header: string, name: string): string | undefined {
  const found = header.split(';').find((each) => each.trimStart().startsWith(`${name}=`))
  return found?.slice(found.indexOf('=') + 1).trim()
}

function format({ devices, ...state }: StoredState): string {
  const kept = devices && Object.fromEntries(Object.entries(devices).slice(-maxDevices))
  const bytes = new TextEncoder().encode(JSON.stringify({ ...state, ...(kept && { devices: kept }) }))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** A cookie that is not ours is none. */
function parse(value: string | undefined): StoredState {
  if (!value) return {}
  try {
    const binary = atob(value.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const state: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof state === 'object' && state !== null ? state : {}
  } catch {
    return {}
  }
}

async function sign(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder()
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), hash, false, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
