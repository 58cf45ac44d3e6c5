/** Every regular expression of a source file, found by parsing it. */
import { stripTypeScriptTypes } from 'node:module'
import { type Node, parse } from 'acorn'

export interface Pattern {
  line: number
  regexp: RegExp
}

export interface Patterns {
  literals: Pattern[]
  /** Lines that build one from a text, which cannot be checked here. */
  built: number[]
}

export function findPatterns(source: string, isTypeScript: boolean): Patterns {
  const code = isTypeScript ? stripTypeScriptTypes(source) : source
  const found: Patterns = { literals: [], built: [] }
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), found)
  return found
}

/** The fields of acorn's nodes that tell a pattern; a node has them or not, by its type. */
interface AnyNode extends Node {
  regex?: { pattern: string; flags: string }
  callee?: { name?: string }
}

function visit(value: unknown, found: Patterns): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const each of value) visit(each, found)
    return
  }
  const node = value as AnyNode
  const line = node.loc?.start.line ?? 0
  if (node.regex) {
    found.literals.push({ line, regexp: new RegExp(node.regex.pattern, node.regex.flags) })
    return
  }
  if (node.callee?.name === 'RegExp') found.built.push(line)
  for (const each of Object.values(node)) visit(each, found)
}
