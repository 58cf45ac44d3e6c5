/** Reads config/*.mlc and, on top of them, the environment. The only reader of the environment. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { findClosestMatch } from '../core/closest-match.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { readPrivateKeys } from './key-file.ts'
import { isKey, isSectionKey, type Key, keys, keysByPath, sectionKeysByPath, type ValuesOf } from './keys.ts'
import { type Environment, type MlcProblem, type MlcSection, type MlcValue, parseMlc, typed } from './mlc.ts'
import { root } from './root.ts'

type Values = ValuesOf<typeof keys>

export type Config = Omit<Values, 'graphql'> & {
  readonly graphql: Omit<Values['graphql'], 'wsHost'> & { readonly wsHost: string }
  /** The value of NODE_ENV, `development` where it is unset. */
  readonly environment: string
  readonly isDevelopment: boolean
  /** What jwt.private_key_file holds, in PEM; none where a secret signs. */
  readonly privateKeys: readonly string[]
}

export interface ConfigSources {
  directory: string
  environment: Environment
  /** The service needs more than a command does: a secret to sign with. */
  forService: boolean
}

const minSecretBytes = 32

/** Where a value came from, as a message names it: `config/server.mlc:3:5` or `PORT`. */
interface Found {
  input: MlcValue
  origin: string
}

/** What the sources hold, by path, before it is read. */
interface Gathered {
  values: Map<string, Found>
  /** Sections whose entries people name themselves, read already. */
  sections: Map<string, { value: unknown; origin: string }>
}

/** Returns the whole configuration, frozen. Throws one FatalError that lists every problem. */
export function loadConfig(sources: ConfigSources): Config {
  const problems: string[] = []
  const gathered: Gathered = { values: new Map(), sections: new Map() }
  readFiles(sources, gathered, problems)
  readVariables(sources.environment, gathered.values)

  const environment = sources.environment.NODE_ENV || 'development'
  const values = readTree(keys, gathered, problems) as Values
  const config: Config = {
    ...values,
    graphql: { ...values.graphql, wsHost: values.graphql.wsHost ?? values.server.host },
    environment,
    isDevelopment: environment === 'development',
    privateKeys: readKeyFile(values.jwt, problems, subjectOf(keys.jwt.privateKeyFile, gathered.values)),
  }
  problems.push(...contradictions(config, sources, (key) => subjectOf(key, gathered.values)))
  if (problems.length > 0) throw new FatalError(problems, exitCodes.configuration)
  return deepFreeze(config)
}

/** Whether the GraphQL playground and introspection are open. */
export function isPlaygroundOpen(config: Config): boolean {
  return config.graphql.playground ?? config.isDevelopment
}

function readFiles({ directory, environment }: ConfigSources, gathered: Gathered, problems: string[]): void {
  for (const file of listFiles(directory, problems)) {
    // Ours are shown as config/server.mlc, others as they were given.
    const shown = file.startsWith(root) ? relative(root, file) : file
    let source: string
    try {
      source = readFileSync(file, 'utf8')
    } catch (error) {
      problems.push(`${shown}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
      continue
    }
    const parsed = parseMlc(source, environment)
    problems.push(...parsed.problems.map((problem) => inFile(shown, problem)))
    collect(parsed.root, '', shown, gathered, problems)
  }
}

function inFile(file: string, { line, column, message }: MlcProblem): string {
  return `${file}:${line}:${column}: ${message}`
}

function listFiles(directory: string, problems: string[]): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.mlc'))
    return names.sort().map((name) => join(directory, name))
  } catch (error) {
    problems.push(`${directory}: the configuration folder cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return []
  }
}

/** Walks a file's sections down to the known keys. */
function collect(section: MlcSection, prefix: string, file: string, gathered: Gathered, problems: string[]): void {
  for (const [name, node] of section.entries) {
    const path = prefix + name
    const origin = `${file}:${node.line}:${node.column}`
    const sectionKey = sectionKeysByPath.get(path)
    const isSection = sectionPaths.has(path)
    if (node.kind === 'section' ? keysByPath.has(path) : isSection) {
      problems.push(`${origin}: "${path}" is ${isSection ? 'a section, not a value' : 'a value, not a section'}`)
    } else if (node.kind === 'value' && keysByPath.has(path)) {
      const earlier = gathered.values.get(path)
      if (earlier) problems.push(`${origin}: repeated key "${path}" (first at ${earlier.origin})`)
      else gathered.values.set(path, { input: node, origin })
    } else if (node.kind === 'section' && sectionKey) {
      const earlier = gathered.sections.get(path)
      if (earlier) problems.push(`${origin}: repeated key "${path}" (first at ${earlier.origin})`)
      const read = sectionKey.readSection(node)
      problems.push(...read.problems.map((problem) => inFile(file, problem)))
      gathered.sections.set(path, { value: read.value, origin })
    } else if (node.kind === 'section' && isSection) {
      collect(node, `${path}.`, file, gathered, problems)
    } else {
      const isUnknownSection = node.kind === 'section'
      const nearest = findClosestMatch(path, isUnknownSection ? sectionPaths : keysByPath.keys())
      const hint = nearest ? `; did you mean "${nearest}"?` : ''
      problems.push(`${origin}: unknown ${isUnknownSection ? 'section' : 'key'} "${path}"${hint}`)
    }
  }
}

/** Every section that holds keys, or entries that people name themselves. */
const sectionPaths: ReadonlySet<string> = new Set([
  ...sectionKeysByPath.keys(),
  ...[...keysByPath.keys(), ...sectionKeysByPath.keys()].flatMap((path) => {
    const names = path.split('.')
    return names.slice(1).map((_name, i) => names.slice(0, i + 1).join('.'))
  }),
])

/** An empty variable counts as unset: that is what an unfilled line of a compose file gives. */
function readVariables(environment: Environment, found: Map<string, Found>): void {
  for (const { path, variable } of keysByPath.values()) {
    const given = variable === undefined ? undefined : environment[variable]
    if (variable !== undefined && given) {
      found.set(path, {
        input: { kind: 'value', value: typed(given), text: given, line: 1, column: 1 },
        origin: variable,
      })
    }
  }
}

function readTree(tree: object, gathered: Gathered, problems: string[]): object {
  const read = (node: object): unknown => {
    if (isKey(node)) return readKey(node, gathered.values, problems)
    if (isSectionKey(node))
      return gathered.sections.has(node.path) ? gathered.sections.get(node.path)?.value : node.fallback
    return readTree(node, gathered, problems)
  }
  return Object.fromEntries(Object.entries(tree).map(([name, node]) => [name, read(node)]))
}

function readKey(key: Key<unknown>, found: Map<string, Found>, problems: string[]): unknown {
  const given = found.get(key.path)
  // `null` or "" in a file, or env(NAME) of an unset variable, means: not given. An empty secret is no secret.
  if (!given || given.input.value === '' || (given.input.value === null && given.input.text === undefined)) {
    return key.fallback
  }
  const value = key.reader.read(given.input)
  if (value === undefined) {
    problems.push(`${subjectOf(key, found)} must be ${key.reader.expected}`)
    return key.fallback
  }
  return value
}

function readKeyFile(jwt: ValuesOf<typeof keys.jwt>, problems: string[], subject: string): string[] {
  if (jwt.algorithm.startsWith('HS') || jwt.privateKeyFile === undefined) return []
  const read = readPrivateKeys(jwt.privateKeyFile, jwt.algorithm)
  if ('keys' in read) return read.keys
  problems.push(`${subject}: ${read.problem}`)
  return []
}

/** What no single key can know. */
function contradictions(
  config: Config,
  { forService }: ConfigSources,
  subject: (key: Key<unknown>) => string,
): string[] {
  const problems: string[] = []
  const { jwt } = config
  const isSymmetric = jwt.algorithm.startsWith('HS')
  const isSqlite = config.database.url.startsWith('file:')

  if (jwt.secret !== undefined && isTooShort(jwt.secret)) {
    problems.push(`${subject(keys.jwt.secret)} must be at least ${minSecretBytes} bytes long`)
  }
  if (jwt.previousSecrets.some(isTooShort)) {
    problems.push(`${subject(keys.jwt.previousSecrets)}: each must be at least ${minSecretBytes} bytes long`)
  }
  if (config.auth.appKey !== undefined && isTooShort(config.auth.appKey)) {
    problems.push(`${subject(keys.auth.appKey)} must be at least ${minSecretBytes} bytes long`)
  }
  // With a key to sign by and a key to encrypt by, nothing is left for the secret to do.
  const needsSecret = isSymmetric || config.auth.appKey === undefined
  if (forService && needsSecret && jwt.secret === undefined && (!config.isDevelopment || !isSqlite)) {
    const reason = isSqlite ? `when NODE_ENV is ${config.environment}` : 'on PostgreSQL'
    problems.push(
      `JWT_SECRET is required ${reason}: at least ${minSecretBytes} random bytes, such as from "openssl rand -hex 32"`,
    )
  }
  if (!isSymmetric && jwt.privateKeyFile === undefined) {
    problems.push(`${subject(keys.jwt.algorithm)}: ${jwt.algorithm} needs JWT_PRIVATE_KEY_FILE`)
  }
  for (const role of config.auth.defaultRoles) {
    if (!Object.hasOwn(config.auth.roles, role))
      problems.push(`${subject(keys.auth.defaultRoles)}: "${role}" is no role`)
  }
  if (config.graphql.pubsub === 'redis' && config.redis.url === undefined) {
    problems.push(`${subject(keys.graphql.pubsub)}: redis needs REDIS_URL`)
  }
  if (config.mail.url !== undefined && config.server.publicUrl === undefined) {
    problems.push(`${subject(keys.mail.url)}: mail needs PUBLIC_URL, which the links in it are made from`)
  }
  return problems
}

function isTooShort(secret: string): boolean {
  return Buffer.byteLength(secret) < minSecretBytes
}

/** What a message begins with: the variable, or the place in a file and the key. */
function subjectOf(key: Key<unknown>, found: Map<string, Found>): string {
  const origin = found.get(key.path)?.origin
  if (origin === undefined) return key.variable ?? key.path
  return origin === key.variable ? origin : `${origin}: ${key.path}`
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}
