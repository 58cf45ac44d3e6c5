/** The types of configuration values. A reader returns the typed value, or undefined if the input does not fit. */
import { isIP } from 'node:net'
import { isAddressRange } from '../core/addresses.ts'
import { findPostgresUrlProblem } from '../core/postgres-url.ts'
import type { MlcValue, Scalar } from './mlc-values.ts'

export interface RateLimit {
  requests: number
  seconds: number
}

/** `expected` completes the sentence "must be …". */
export interface Reader<T> {
  expected: string
  read(input: MlcValue): T | undefined
  /** Completes the sentence too, if more can be said about this input than `expected`. */
  explain?(input: MlcValue): string | undefined
}

export const text: Reader<string> = {
  expected: 'text',
  read: (input) => textOf(input),
}

export const bool: Reader<boolean> = {
  expected: 'true or false',
  read(input) {
    if (typeof input.value === 'boolean') return input.value
    // The usual spellings of booleans in environment variables.
    const word = input.text?.toLowerCase()
    if (word === '1' || word === 'yes' || word === 'on' || word === 'true') return true
    if (word === '0' || word === 'no' || word === 'off' || word === 'false') return false
    return undefined
  },
}

export function integer({ min, max }: { min: number; max: number }): Reader<number> {
  return {
    expected: `an integer from ${min} to ${max}`,
    read: ({ value }) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined,
  }
}

/** A number from 0 to 1. */
export const fraction: Reader<number> = {
  expected: 'a number from 0 to 1',
  read: ({ value }) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined),
}

export const count = integer({ min: 0, max: 1_000_000_000 })
export const positive = integer({ min: 1, max: 1_000_000_000 })
export const secondsUpTo = (max: number) => integer({ min: 1, max })

export function choice<const T extends string>(options: readonly T[]): Reader<T> {
  return {
    expected: `one of ${options.join(', ')}`,
    read: (input) => options.find((option) => option === textOf(input)),
  }
}

/** A list; in a variable, items are separated by commas. */
export function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return {
    expected: `a list, each item ${item.expected}`,
    read(input) {
      const items = Array.isArray(input.value)
        ? input.value
        : (textOf(input) ?? '')
            .split(',')
            .map((part) => part.trim())
            .filter((part) => part !== '')
            .map((part): MlcValue => ({ ...input, value: part, text: part }))
      const read = items.map((part) => item.read(part))
      return read.includes(undefined) ? undefined : (read as T[])
    },
  }
}

/** `name=value,name=value`, the values percent-encoded, as OpenTelemetry writes them. */
export const pairs: Reader<Readonly<Record<string, string>>> = {
  expected: 'pairs such as "name=value,name=value", values percent-encoded',
  read(input) {
    const read: [string, string][] = []
    for (const pair of list(text).read(input) ?? []) {
      const at = pair.indexOf('=')
      const name = pair.slice(0, Math.max(0, at)).trim()
      if (name === '') return undefined
      try {
        read.push([name, decodeURIComponent(pair.slice(at + 1).trim())])
      } catch {
        return undefined
      }
    }
    return Object.fromEntries(read)
  },
}

/** A URL with one of the given schemes. */
export function url(...schemes: string[]): Reader<string> {
  return {
    expected: `a URL that starts with ${schemes.map((scheme) => `${scheme}:`).join(' or ')}`,
    read(input) {
      const given = textOf(input)
      if (given === undefined || !schemes.some((scheme) => given.startsWith(`${scheme}:`))) return undefined
      // The rest of a file: URL is a path, which need not be a well-formed URL.
      if (given.startsWith('file:')) return /^file:(?!\/\/[^/])./.test(given) ? given : undefined
      return isUsable(given) ? given : undefined
    },
  }
}

/** A PostgreSQL URL, which may have several hosts, or a URL of the other schemes. */
export function databaseUrl(...otherSchemes: string[]): Reader<string> {
  const anyUrl = url(...otherSchemes, 'postgres', 'postgresql')
  const isPostgres = (given: string) => given.startsWith('postgres:') || given.startsWith('postgresql:')
  return {
    expected: anyUrl.expected,
    read(input) {
      const given = textOf(input)
      if (given === undefined || !isPostgres(given)) return anyUrl.read(input)
      return findPostgresUrlProblem(given) === undefined ? given : undefined
    },
    explain(input) {
      const given = textOf(input)
      if (given === undefined || !isPostgres(given)) return undefined
      return `a PostgreSQL URL as libpq reads it: ${findPostgresUrlProblem(given)}`
    },
  }
}

const webUrl = url('http', 'https')

/** Slashes at the end are removed, because paths are appended to it. */
export const baseUrl: Reader<string> = {
  expected: `${webUrl.expected}, without a query or fragment`,
  read(input) {
    let address = webUrl.read(input)
    if (address !== undefined && /[?#]/.test(address)) return undefined
    while (address?.endsWith('/')) address = address.slice(0, -1)
    return address
  },
}

const origin: Reader<string> = {
  expected: 'an origin such as https://shop.example: scheme, host and port, and nothing more',
  read(input) {
    const given = textOf(input)
    const parsed = given === undefined ? null : URL.parse(given)
    // URL normalises as browsers do for the Origin header: lower-case host, no default port.
    if (!parsed || given === undefined || parsed.host === '' || parsed.host.includes('*')) return undefined
    const written = `${parsed.protocol}//${parsed.host}`
    const hasPath = /[/?#@]/.test(given.slice(parsed.protocol.length + 2))
    return hasPath || !given.slice(parsed.protocol.length).startsWith('//') ? undefined : written
  },
}

export const origins: Reader<readonly string[]> = {
  expected: `"*", or a list, each item ${origin.expected}`,
  read(input) {
    const given = list(text).read(input)
    return given?.length === 1 && given[0] === '*' ? given : list(origin).read(input)
  },
}

/** What a server listens on. */
export const host: Reader<string> = {
  expected: 'an address or the name of a host, without port and brackets',
  read(input) {
    const given = textOf(input)
    return given !== undefined && (isIP(given) !== 0 || isHostName(given)) ? given : undefined
  },
}

/** URL refuses numbers that are no address, such as 999.1.1.1. */
function isHostName(given: string): boolean {
  return /^[\p{L}\p{N}_.-]+$/u.test(given) && URL.canParse(`http://${given}`)
}

export const addressRange: Reader<string> = {
  expected: 'an address, a range such as 10.0.0.0/8, or loopback, linklocal or uniquelocal',
  read(input) {
    const given = textOf(input)
    if (given === undefined) return undefined
    if (['loopback', 'linklocal', 'uniquelocal'].includes(given)) return given
    return isAddressRange(given) ? given : undefined
  },
}

/** Such as 30m, 24h or 7d; in seconds. */
export const duration: Reader<number> = {
  expected: 'a time such as 30m, 24h or 7d, from 1m to 366d',
  read(input) {
    const match = /^(\d{1,6})([mhd])$/.exec(textOf(input) ?? '')
    const seconds = Number(match?.[1]) * (unitSeconds[match?.[2] ?? ''] ?? Number.NaN)
    return seconds >= 60 && seconds <= 366 * 86_400 ? seconds : undefined
  },
}

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 }

/** The longest delay of setTimeout: 24 days. */
const maxTimerSeconds = 2_147_483

export const rateLimit: Reader<RateLimit> = {
  expected: 'requests/seconds, such as 100/60, over 24 days at most',
  read(input) {
    const match = /^(\d{1,9})\/(\d{1,9})$/.exec(textOf(input) ?? '')
    const requests = Number(match?.[1])
    const seconds = Number(match?.[2])
    return requests > 0 && seconds > 0 && seconds <= maxTimerSeconds ? { requests, seconds } : undefined
  },
}

/** The drivers throw on malformed percent-encoding in credentials, and on a Redis path that is not a number. */
function isUsable(given: string): boolean {
  const parsed = URL.parse(given)
  if (!parsed) return false
  try {
    decodeURIComponent(`${parsed.username}${parsed.password}`)
  } catch {
    return false
  }
  return !parsed.protocol.startsWith('redis') || /^\/?\d*$/.test(parsed.pathname)
}

/** Prefers the text as it was written, so that 007 from a variable stays "007". */
function textOf({ value, text: written }: MlcValue): string | undefined {
  if (written !== undefined) return written
  return isScalar(value) && value !== null ? String(value) : undefined
}

function isScalar(value: MlcValue['value']): value is Scalar {
  return !Array.isArray(value)
}
