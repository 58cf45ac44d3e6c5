/** Parses source files into syntax trees. */
import { stripTypeScriptTypes } from 'node:module'
import { type Node, parse } from 'acorn'

/** The fields of acorn's nodes that are used; which of them exist depends on the type. */
export interface SourceNode extends Node {
  regex?: { pattern: string; flags: string }
  callee?: { name?: string }
  value?: unknown
  quasis?: { value: { raw: string } }[]
}

/** Every node of a file, parents first. Lines are those of the source. */
export function nodesOf(source: string, isTypeScript = true): SourceNode[] {
  const code = isTypeScript ? stripTypeScriptTypes(source) : source
  const found: SourceNode[] = []
  collect(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), found)
  return found
}

export function lineOf(node: Node): number {
  return node.loc?.start.line ?? 0
}

/** String literals, and the fixed parts of templates. */
export function findTexts(source: string): string[] {
  return nodesOf(source).flatMap(({ type, value, quasis }) => {
    if (type === 'TemplateLiteral') return [quasis?.map((quasi) => quasi.value.raw).join(' … ') ?? '']
    return type === 'Literal' && typeof value === 'string' ? [value] : []
  })
}

function collect(value: unknown, found: SourceNode[]): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const each of value) collect(each, found)
    return
  }
  if ('type' in value && 'loc' in value) found.push(value as SourceNode)
  for (const [key, each] of Object.entries(value)) if (key !== 'loc') collect(each, found)
}
