/** Reads the section auth.roles: one section per role, with `permissions` and optionally `inherits`. Returns `added` too. */

import type { MlcProblem, MlcSection } from '../../config/mlc.ts'
import type { Position } from '../../config/mlc-lexer.ts'
import type { MlcValue } from '../../config/mlc-values.ts'
import type { RoleDefinition, RoleDefinitions } from './shipped-roles.ts'

export function readRoles(
  section: MlcSection,
  added: RoleDefinitions = {},
): { value: RoleDefinitions; problems: MlcProblem[] } {
  const problems: MlcProblem[] = []
  const places = new Map<string, Position>()
  const roles = new Map<string, RoleDefinition>()
  const note = (message: string, { line, column }: Position) => problems.push({ message, line, column })

  for (const [name, node] of section.entries) {
    places.set(name, node)
    if (node.kind === 'section') roles.set(name, readRole(name, node, note))
    else note(`role "${name}" must be a section with permissions and inherits`, node)
  }
  for (const [name, { inherits }] of roles) {
    const place = places.get(name) as Position
    for (const parent of inherits) {
      if (!roles.has(parent) && !Object.hasOwn(added, parent))
        note(`role "${name}" inherits "${parent}", which is no role`, place)
    }
    const circle = findCircle(name, roles)
    if (circle) note(`roles inherit each other in a circle: ${circle.join(' → ')}`, place)
  }
  return { value: { ...added, ...Object.fromEntries(roles) }, problems }
}

type Note = (message: string, place: Position) => void

function readRole(name: string, section: MlcSection, note: Note): RoleDefinition {
  const lists: Record<string, string[]> = { permissions: [], inherits: [] }
  for (const [key, node] of section.entries) {
    if (!Object.hasOwn(lists, key)) note(`role "${name}" has permissions and inherits, not "${key}"`, node)
    else lists[key] = readTexts(node, `${key} of role "${name}"`, note)
  }
  const { permissions = [], inherits = [] } = lists
  return { permissions, inherits }
}

function readTexts(node: MlcValue | MlcSection, what: string, note: Note): string[] {
  const items = node.kind === 'value' && Array.isArray(node.value) ? node.value : undefined
  const texts = items?.map((item) => item.text ?? item.value)
  if (!texts?.every((text) => typeof text === 'string')) {
    note(`${what} must be a list of names`, node)
    return []
  }
  return texts
}

/** Returns the inheritance cycle of a role. Reported once, for the first role of the cycle by name. */
function findCircle(start: string, roles: ReadonlyMap<string, RoleDefinition>): string[] | undefined {
  const seen = new Set<string>()
  const walk = (name: string, way: string[]): string[] | undefined => {
    for (const parent of roles.get(name)?.inherits ?? []) {
      if (parent === start) return [...way, name, start]
      if (seen.has(parent)) continue
      seen.add(parent)
      const found = walk(parent, [...way, name])
      if (found) return found
    }
    return undefined
  }
  const circle = walk(start, [])
  return circle && circle.slice(0, -1).toSorted()[0] === start ? circle : undefined
}
