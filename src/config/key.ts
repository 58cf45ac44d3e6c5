/** Declares configuration keys. Core keys are in core-keys.ts, those of a feature in its definition. */
import type { MlcProblem, MlcSection } from './mlc.ts'
import type { Reader } from './readers.ts'

export interface Key<T> {
  /** The name in the files, sections separated by dots. */
  path: string
  variable: string | undefined
  /** The value may also be in the file that `<variable>_FILE` names. */
  isSecret?: boolean
  reader: Reader<T>
  fallback: T
}

/** A section with freely named entries, such as the roles. */
export interface SectionKey<T> {
  path: string
  readSection(section: MlcSection): { value: T; problems: MlcProblem[] }
  fallback: T
}

export type KeyTree = { readonly [name: string]: Key<unknown> | SectionKey<unknown> | KeyTree }

/** The type of the values that a tree of keys reads. */
export type ValuesOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends Key<infer T> | SectionKey<infer T> ? T : ValuesOf<Tree[Name]>
}

/** A key with a default. The environment variable overrides the files. */
export function key<T>(path: string, reader: Reader<T>, fallback: NoInfer<T>, variable?: string): Key<T> {
  return { path, variable, reader, fallback }
}

/** A key that may be left out. */
export function optional<T>(path: string, reader: Reader<T>, variable?: string): Key<T | undefined> {
  return { path, variable, reader, fallback: undefined }
}

/** A key whose value others must not see. It may also come from the file that `<variable>_FILE` names. */
export function secret<T>(key: Key<T>): Key<T> {
  return { ...key, isSecret: true }
}

export function isKey(node: object): node is Key<unknown> {
  return 'reader' in node
}

export function isSectionKey(node: object): node is SectionKey<unknown> {
  return 'readSection' in node
}

export function leavesOf(tree: KeyTree): (Key<unknown> | SectionKey<unknown>)[] {
  return Object.values(tree).flatMap((node) => (isKey(node) || isSectionKey(node) ? [node] : leavesOf(node as KeyTree)))
}

/** Two trees may share a section, but not a key in it. */
export function mergeTrees(trees: readonly KeyTree[]): KeyTree {
  const merged: Record<string, Key<unknown> | SectionKey<unknown> | KeyTree> = {}
  for (const tree of trees) {
    for (const [name, node] of Object.entries(tree)) {
      const earlier = merged[name]
      if (earlier === undefined) merged[name] = node
      else if (isBranch(earlier) && isBranch(node)) merged[name] = mergeTrees([earlier, node])
      else throw new Error(`the configuration key "${pathOf(node)}" is declared twice`)
    }
  }
  return merged
}

function isBranch(node: KeyTree[string]): node is KeyTree {
  return !isKey(node) && !isSectionKey(node)
}

function pathOf(node: KeyTree[string]): string {
  return isBranch(node) ? (leavesOf(node)[0]?.path ?? '') : (node as { path: string }).path
}
