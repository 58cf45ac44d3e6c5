/**
 * PostgreSQL URLs as libpq reads them: several hosts, and which of them to use.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */

export const sessionTargets = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const
export type SessionTarget = (typeof sessionTargets)[number]

export interface PostgresHost {
  /** Host and port, for messages. */
  name: string
  /** A name, an address, or the folder of a Unix socket. Empty if the URL names none. */
  host: string
  port: number
  /** The URL of this host alone. */
  url: string
}

export interface PostgresUrl {
  hosts: readonly PostgresHost[]
  target: SessionTarget
  /** For each host. */
  connectTimeoutMs: number | undefined
  /** Empty if the URL names none. */
  database: string
  /** Hosts and database for messages, without the credentials. */
  place: string
}

/** Its message contains neither user nor password. */
export class PostgresUrlError extends Error {
  override readonly name = 'PostgresUrlError'
}

const defaultPort = '5432'
const localHosts: readonly string[] = ['', 'localhost', '127.0.0.1', '::1']

interface Address {
  host: string
  port: string
}

/** Throws a PostgresUrlError. */
export function parsePostgresUrl(text: string): PostgresUrl {
  const { scheme, credentials, hostList, path, query } = cut(text)
  const params = new URLSearchParams(query)
  const target = readTarget(params)
  const addresses = readAddresses(hostList, params)
  const connectTimeoutMs = readTimeout(params)
  const isPlain = addresses.length === 1 && !params.has('target_session_attrs') && !params.has('host')
  for (const name of ['host', 'port', 'target_session_attrs', 'connect_timeout']) params.delete(name)
  const hosts = addresses.map((address) => ({
    name: nameOf(address),
    host: address.host.toLowerCase(),
    port: Number(address.port || defaultPort),
    // A host in the parameters may also be the folder of a Unix socket.
    url: isPlain ? text : `${scheme}//${credentials}localhost${path}?${withAddress(params, address)}`,
  }))
  for (const { url } of hosts) requireReadable(url)
  const place = hosts.map(({ name }) => name).join(',') + path
  return { hosts, target, connectTimeoutMs, database: decode(path.slice(1)), place }
}

/** Whether two URLs have a host in common, and name the same database on it. */
export function isSameDatabase(one: string, other: string): boolean {
  const [a, b] = [parsePostgresUrl(one), parsePostgresUrl(other)]
  return (
    a.database === b.database &&
    a.hosts.some(({ host, port }) => b.hosts.some((each) => each.host === host && each.port === port))
  )
}

/** Whether connections to every host of a URL stay on this machine. */
export function isOnThisMachine(url: string): boolean {
  return parsePostgresUrl(url).hosts.every(({ host }) => localHosts.includes(host) || host.startsWith('/'))
}

/** Returns what is wrong with a URL, or undefined. */
export function findPostgresUrlProblem(text: string): string | undefined {
  try {
    parsePostgresUrl(text)
    return undefined
  } catch (error) {
    if (error instanceof PostgresUrlError) return error.message
    throw error
  }
}

/** By hand, because a standard URL has one host. */
function cut(text: string) {
  const start = text.indexOf('//')
  const scheme = text.slice(0, start)
  if (start === -1 || !['postgres:', 'postgresql:'].includes(scheme)) {
    throw new PostgresUrlError('a PostgreSQL URL has the form postgres://user:password@host:port/database')
  }
  const [beforeQuery = '', ...queries] = text.slice(start + 2).split('?')
  const pathStart = beforeQuery.indexOf('/')
  const authority = pathStart === -1 ? beforeQuery : beforeQuery.slice(0, pathStart)
  const path = pathStart === -1 ? '' : beforeQuery.slice(pathStart)
  const hostStart = authority.lastIndexOf('@') + 1
  const [query = ''] = queries.join('?').split('#')
  return { scheme, credentials: authority.slice(0, hostStart), hostList: authority.slice(hostStart), path, query }
}

function readTarget(params: URLSearchParams): SessionTarget {
  const given = params.get('target_session_attrs') ?? 'any'
  const target = sessionTargets.find((each) => each === given)
  if (!target) throw new PostgresUrlError(`target_session_attrs must be one of ${sessionTargets.join(', ')}`)
  return target
}

/** In seconds; 0 means no limit, and less than 2 is taken for 2, as libpq does. */
function readTimeout(params: URLSearchParams): number | undefined {
  const given = params.get('connect_timeout')
  if (given === null || given === '0') return undefined
  if (!/^\d{1,6}$/.test(given)) throw new PostgresUrlError('connect_timeout must be a number of seconds')
  return Math.max(2, Number(given)) * 1000
}

function readAddresses(hostList: string, params: URLSearchParams): Address[] {
  const listed = params.get('host')
  const addresses =
    listed === null ? hostList.split(',').map(readAddress) : listed.split(',').map((host) => ({ host, port: '' }))
  const ports = params.get('port')?.split(',') ?? []
  if (ports.length > 1 && ports.length !== addresses.length) {
    throw new PostgresUrlError(
      `${ports.length} ports for ${addresses.length} hosts: give one port for all, or one each`,
    )
  }
  const complete = addresses.map(({ host, port }, i) => ({
    host,
    port: (ports.length > 1 ? ports[i] : ports[0]) ?? port,
  }))
  for (const { host, port } of complete) {
    if (host === '' && complete.length > 1) throw new PostgresUrlError('one of the hosts has no name')
    if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536)) {
      throw new PostgresUrlError(`the port of ${host || 'the host'} must be a number from 1 to 65535`)
    }
  }
  return complete
}

/** `host`, `host:port` or `[::1]:port`. */
function readAddress(text: string): Address {
  const end = text.startsWith('[') ? text.indexOf(']') + 1 : 0
  const colon = text.indexOf(':', end)
  const written = colon === -1 ? text : text.slice(0, colon)
  const host = written.startsWith('[') && written.endsWith(']') ? written.slice(1, -1) : written
  if (text.startsWith('[') && host === written) throw new PostgresUrlError('an IPv6 address must end with "]"')
  return { host: decode(host), port: colon === -1 ? '' : text.slice(colon + 1) }
}

function nameOf({ host, port }: Address): string {
  const shown = host.includes(':') ? `[${host}]` : host
  return port === '' ? shown : `${shown}:${port}`
}

function withAddress(params: URLSearchParams, { host, port }: Address): URLSearchParams {
  const own = new URLSearchParams(params)
  if (host !== '') own.set('host', host)
  if (port !== '') own.set('port', port)
  return own
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new PostgresUrlError('a "%" is not followed by two hexadecimal digits')
  }
}

/** The driver throws on malformed percent-encoding. */
function requireReadable(url: string): void {
  const parsed = URL.parse(url)
  if (!parsed) throw new PostgresUrlError('it cannot be read: check the host and the port')
  decode(`${parsed.username}${parsed.password}${parsed.pathname}`)
}
