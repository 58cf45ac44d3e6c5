/** Every regular expression of a source file, found by parsing it. */
import { lineOf, nodesOf } from './source-code.ts'

export interface Pattern {
  line: number
  regexp: RegExp
}

export interface Patterns {
  literals: Pattern[]
  /** Lines that build one from a string, which cannot be checked here. */
  built: number[]
}

export function findPatterns(source: string, isTypeScript: boolean): Patterns {
  const nodes = nodesOf(source, isTypeScript)
  return {
    literals: nodes.flatMap((node) =>
      node.regex ? [{ line: lineOf(node), regexp: new RegExp(node.regex.pattern, node.regex.flags) }] : [],
    ),
    built: nodes.filter(({ callee }) => callee?.name === 'RegExp').map(lineOf),
  }
}
