/** Reads config/*.mlc, then the environment, which wins. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { findClosestMatch } from '../core/closest-match.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { coreKeys } from './core-keys.ts'
import {
  isKey,
  isSectionKey,
  type Key,
  type KeyTree,
  leavesOf,
  mergeTrees,
  type SectionKey,
  type ValuesOf,
} from './key.ts'
import { emptySection, type MlcProblem, type MlcSection, parseMlc } from './mlc.ts'
import type { Environment } from './mlc-values.ts'
import { root } from './root.ts'
import { telemetryProtocol } from './telemetry-keys.ts'
import { type Found, readVariables } from './variables.ts'

type CoreValues = ValuesOf<typeof coreKeys>

/** The values of the core keys. Features add keys of their own. */
export type CoreConfig = Omit<CoreValues, 'graphql' | 'server'> & {
  readonly server: Omit<CoreValues['server'], 'drainSeconds'> & { readonly drainSeconds: number }
  readonly graphql: Omit<CoreValues['graphql'], 'wsHost'> & { readonly wsHost: string }
  /** The value of NODE_ENV, `development` where it is unset. */
  readonly environment: string
  readonly isDevelopment: boolean
  /** The folder that it was read from. */
  readonly directory: string
}

export interface ConfigSources {
  directory: string
  environment: Environment
  /** The files of the directory, if they have been parsed before. */
  files?: readonly ParsedFile[]
  /** Requires what only serving needs, such as a signing secret. */
  forService: boolean
}

export interface ParsedFile {
  /** As messages name it. */
  shown: string
  root: MlcSection
  /** Described with their places. */
  problems: readonly string[]
}

/** The keys that a feature adds, and a check across keys. */
export interface ConfigPart {
  keys?: KeyTree | undefined
  check?: ((config: CoreConfig & object, context: CheckContext) => string[]) | undefined
}

export interface CheckContext {
  forService: boolean
  /** The start of an error message: the variable, or the file position and the key. */
  subjectOf(key: Key<unknown>): string
}

export const minSecretBytes = 32

/** Raw values of all sources, by path. */
interface Gathered {
  values: Map<string, Found>
  /** Sections with freely named entries; these are already parsed. */
  sections: Map<string, { value: unknown; origin: string }>
}

/** Reads one key before the others are known. Ignores problems elsewhere; `loadConfig` reports them. */
export function readOne<T>(sources: Omit<ConfigSources, 'forService'>, key: Key<T>): T {
  const known = createKnown([{ [key.path]: key as Key<unknown> }])
  const gathered: Gathered = { values: new Map(), sections: new Map() }
  collectFiles(sources, known, gathered, [])
  readVariables(sources.environment, known.keys.values(), gathered.values, [])
  return readKey(key as Key<unknown>, gathered.values, []) as T
}

/** All declared keys, by path. */
interface Known {
  tree: KeyTree
  keys: ReadonlyMap<string, Key<unknown>>
  sectionKeys: ReadonlyMap<string, SectionKey<unknown>>
  /** Every section that holds keys or freely named entries. */
  sections: ReadonlySet<string>
}

/** Returns the whole configuration, frozen. Throws one FatalError that lists every problem. */
export function loadConfig(sources: ConfigSources, parts: readonly ConfigPart[]): CoreConfig {
  const known = createKnown([coreKeys, ...parts.map(({ keys }) => keys ?? {})])
  const problems: string[] = []
  const gathered: Gathered = { values: new Map(), sections: new Map() }
  collectFiles(sources, known, gathered, problems)
  readVariables(sources.environment, known.keys.values(), gathered.values, problems)

  const environment = sources.environment.NODE_ENV || 'development'
  const isDevelopment = environment === 'development'
  const values = readTree(known.tree, gathered, problems) as CoreValues
  const config: CoreConfig = {
    ...values,
    server: { ...values.server, drainSeconds: values.server.drainSeconds ?? (isDevelopment ? 0 : 3) },
    graphql: { ...values.graphql, wsHost: values.graphql.wsHost ?? values.server.host },
    environment,
    isDevelopment,
    directory: sources.directory,
  }
  const context = { ...sources, subjectOf: (key: Key<unknown>) => subjectOf(key, gathered.values) }
  for (const check of [checkCore, ...parts.flatMap((part) => part.check ?? [])])
    problems.push(...check(config, context))
  if (problems.length > 0) throw new FatalError(problems, exitCodes.configuration)
  return deepFreeze(config)
}

function createKnown(trees: readonly KeyTree[]): Known {
  const tree = mergeTrees(trees)
  const leaves = leavesOf(tree)
  const keys = new Map(leaves.filter((leaf) => isKey(leaf)).map((leaf) => [leaf.path, leaf]))
  const sectionKeys = new Map(leaves.filter((leaf) => isSectionKey(leaf)).map((leaf) => [leaf.path, leaf]))
  const parents = leaves.flatMap(({ path }) => {
    const names = path.split('.')
    return names.slice(1).map((_name, i) => names.slice(0, i + 1).join('.'))
  })
  return { tree, keys, sectionKeys, sections: new Set([...sectionKeys.keys(), ...parents]) }
}

/** Whether the GraphQL playground and introspection are open. */
export function isPlaygroundOpen(config: Pick<CoreConfig, 'graphql' | 'isDevelopment'>): boolean {
  return config.graphql.playground ?? config.isDevelopment
}

function collectFiles(
  sources: Omit<ConfigSources, 'forService'>,
  known: Known,
  gathered: Gathered,
  problems: string[],
): void {
  for (const file of sources.files ?? parseFiles(sources)) {
    problems.push(...file.problems)
    collect({ section: file.root, prefix: '', file: file.shown }, known, gathered, problems)
  }
}

/** For whoever reads the same sources several times. */
export function parseFiles({ directory, environment }: Omit<ConfigSources, 'forService'>): readonly ParsedFile[] {
  const listed = listFiles(directory)
  if ('problem' in listed) return [{ shown: directory, root: emptySection(), problems: [listed.problem] }]
  return listed.files.map((file) => {
    // Messages name the project's own files relative to its root: config/server.mlc.
    const shown = file.startsWith(root) ? relative(root, file) : file
    let source: string
    try {
      source = readFileSync(file, 'utf8')
    } catch (error) {
      const problem = `${shown}: cannot be read (${(error as NodeJS.ErrnoException).code})`
      return { shown, root: emptySection(), problems: [problem] }
    }
    const parsed = parseMlc(source, environment)
    return { shown, root: parsed.root, problems: parsed.problems.map((problem) => inFile(shown, problem)) }
  })
}

function inFile(file: string, { line, column, message }: MlcProblem): string {
  return `${file}:${line}:${column}: ${message}`
}

function listFiles(directory: string): { files: readonly string[] } | { problem: string } {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.mlc'))
    return { files: names.sort().map((name) => join(directory, name)) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { problem: `${directory}: the configuration folder cannot be read (${code})` }
  }
}

/** Walks a file's sections down to the known keys. */
function collect(
  { section, prefix, file }: { section: MlcSection; prefix: string; file: string },
  known: Known,
  gathered: Gathered,
  problems: string[],
): void {
  for (const [name, node] of section.entries) {
    const path = prefix + name
    const origin = `${file}:${node.line}:${node.column}`
    const sectionKey = known.sectionKeys.get(path)
    const isSection = known.sections.has(path)
    if (node.kind === 'section' ? known.keys.has(path) : isSection) {
      problems.push(`${origin}: "${path}" is ${isSection ? 'a section, not a value' : 'a value, not a section'}`)
    } else if (node.kind === 'value' && known.keys.has(path)) {
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
      collect({ section: node, prefix: `${path}.`, file }, known, gathered, problems)
    } else {
      const isUnknownSection = node.kind === 'section'
      const closest = findClosestMatch(path, isUnknownSection ? known.sections : known.keys.keys())
      const hint = closest ? `; did you mean "${closest}"?` : ''
      problems.push(`${origin}: unknown ${isUnknownSection ? 'section' : 'key'} "${path}"${hint}`)
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
  // `null`, "" and env(NAME) of an unset variable all mean "not set": an empty text must never become a secret.
  if (!given || given.input.value === '' || (given.input.value === null && given.input.text === undefined)) {
    return key.fallback
  }
  const value = key.reader.read(given.input)
  if (value === undefined) {
    const problem = key.reader.explain?.(given.input)
    problems.push(`${subjectOf(key, found)} must be ${problem ?? key.reader.expected}`)
    return key.fallback
  }
  return value
}

function checkCore(config: CoreConfig, { subjectOf }: CheckContext): string[] {
  const { jwt, auth, graphql, redis, mail, server, database } = config
  const isSqlite = database.url.startsWith('file:')
  const problems: string[] = []
  if (jwt.secret !== undefined && isTooShort(jwt.secret)) {
    problems.push(`${subjectOf(coreKeys.jwt.secret)} must be at least ${minSecretBytes} bytes long`)
  }
  if (jwt.previousSecrets.some(isTooShort)) {
    problems.push(`${subjectOf(coreKeys.jwt.previousSecrets)}: each must be at least ${minSecretBytes} bytes long`)
  }
  if (auth.appKey !== undefined && isTooShort(auth.appKey)) {
    problems.push(`${subjectOf(coreKeys.auth.appKey)} must be at least ${minSecretBytes} bytes long`)
  }
  if (graphql.pubsub === 'redis' && redis.url === undefined) {
    problems.push(`${subjectOf(coreKeys.graphql.pubsub)}: redis needs REDIS_URL`)
  }
  if (graphql.pubsub === 'postgres' && isSqlite) {
    problems.push(`${subjectOf(coreKeys.graphql.pubsub)}: postgres needs a PostgreSQL server in DATABASE_URL`)
  }
  if (database.listenUrl !== undefined && isSqlite) {
    problems.push(`${subjectOf(coreKeys.database.listenUrl)} needs a PostgreSQL server in DATABASE_URL`)
  }
  if (mail.url !== undefined && server.publicUrl === undefined) {
    problems.push(`${subjectOf(coreKeys.mail.url)}: mail needs PUBLIC_URL, which the links in it are made from`)
  }
  const { telemetry } = config
  if (telemetry.endpoint !== undefined && telemetry.protocol !== telemetryProtocol) {
    const advice = `only ${telemetryProtocol} is supported; a collector takes it on its port for HTTP, which is 4318`
    problems.push(`${subjectOf(coreKeys.telemetry.protocol)}: ${advice}`)
  }
  return problems
}

function isTooShort(secret: string): boolean {
  return Buffer.byteLength(secret) < minSecretBytes
}

function subjectOf(key: Key<unknown>, found: Map<string, Found>): string {
  const origin = found.get(key.path)?.origin
  if (origin === undefined) return key.variable ?? key.path
  return origin === key.variable || origin === `${key.variable}_FILE` ? origin : `${origin}: ${key.path}`
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}
