/** Reads a manifest. Its checksum shows that nothing has changed since it was written, but not by which version it was. */
import { findJsonExcess } from '../../core/json-bounds.ts'
import { badArchive, kinds } from './content.ts'
import { formatVersion, type Manifest, newerFormat } from './format.ts'

/** Throws a FatalError if it lacks something that this version needs. */
export function parseManifest(text: string, path: string): Manifest {
  const manifest = parseJson(text)
  const format = isObject(manifest) ? manifest.format : undefined
  if (isLength(format) && format > formatVersion) throw newerFormat(path, format)
  const wrong = findWrong(manifest)
  if (wrong !== undefined) throw unreadableManifest(path, wrong)
  // findWrong has looked at every part.
  return manifest as Manifest
}

export function unreadableManifest(path: string, wrong: string) {
  return badArchive(
    `${path}: its manifest is not as this version of Latchkey writes it (${wrong}): it is damaged or was made by another version. Nothing was written`,
  )
}

/** Tables, columns and blocks are three lists deep. */
const bounds = { maxDepth: 16, maxValues: 2_000_000 }

function parseJson(text: string): unknown {
  if (findJsonExcess(text, bounds)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Names the first part that is not as it must be. */
function findWrong(manifest: unknown): string | undefined {
  if (!isObject(manifest)) return 'it is no JSON object'
  const { tables } = manifest
  if (manifest.format !== formatVersion) return 'format'
  if (!isText(manifest.latchkey)) return 'latchkey'
  if (manifest.engine !== 'sqlite' && manifest.engine !== 'postgres') return 'engine'
  if (!isTime(manifest.takenAt)) return 'takenAt'
  if (!isListOf(manifest.migrations, isMigration)) return 'migrations'
  if (!isListOf(tables, isTable)) return 'tables'
  const names = tables.map(({ name }) => name)
  if (!isListOf(manifest.countedLists, isText)) return 'countedLists'
  if (!manifest.countedLists.every((name) => names.includes(name))) return 'countedLists'
  return new Set(names).size === names.length ? undefined : 'a table is named twice'
}

type Check<T> = (value: unknown) => value is T

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isText: Check<string> = (value) => typeof value === 'string'
/** As the writer has it from either engine. */
const isTime: Check<string> = (value): value is string =>
  isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(value) && !Number.isNaN(Date.parse(value))
const isLength: Check<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0

function isListOf<T>(value: unknown, check: Check<T>): value is T[] {
  return Array.isArray(value) && value.every(check)
}

function isMigration(value: unknown): value is object {
  if (!isObject(value) || !isText(value.name) || !isTime(value.appliedAt) || !isObject(value.checksums)) return false
  return Object.values(value.checksums).every(isText)
}

function isTable(value: unknown): value is { name: string } {
  if (!isObject(value) || !isText(value.name) || !isLength(value.rows) || !isText(value.digest)) return false
  if (!isListOf(value.columns, isColumn) || !isListOf(value.blocks, isBlock)) return false
  if (new Set(value.columns.map(({ name }) => name)).size !== value.columns.length) return false
  return value.counter === undefined || isCounter(value.counter)
}

function isColumn(value: unknown): value is { name: string } {
  return isObject(value) && isText(value.name) && kinds.some((kind) => kind === value.kind)
}

function isBlock(value: unknown): value is object {
  return isObject(value) && isLength(value.bytes) && isText(value.sha256) && isOptionalLength(value.length)
}

function isOptionalLength(value: unknown): boolean {
  return value === undefined || isLength(value)
}

function isCounter(value: unknown): value is object {
  return isObject(value) && isText(value.column) && isText(value.last) && /^\d{1,18}$/.test(value.last)
}
