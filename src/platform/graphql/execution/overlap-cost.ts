/**
 * OverlappingFieldsCanBeMerged compares all pairs of fields with the same response name, and all pairs of fragments:
 * its cost is quadratic in the number of repetitions. This counts those pairs without comparing them.
 */
import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'

/** Visits a field once per path to it, so the document must be free of cycles and within the field limit. */
export function countOverlaps(
  selectionSet: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  return count([selectionSet])

  /** `sets` have the same response path and are merged. */
  function count(sets: readonly SelectionSetNode[]): number {
    const byName = new Map<string, { times: number; sets: SelectionSetNode[] }>()
    let spreads = 0
    for (const each of sets) collect(each, new Set())

    let pairs = pairsOf(spreads)
    for (const { times, sets: inner } of byName.values()) {
      pairs += pairsOf(times)
      if (inner.length > 0) pairs += count(inner)
    }
    return pairs

    function collect({ selections }: SelectionSetNode, seen: Set<string>): void {
      for (const selection of selections) {
        if (selection.kind === Kind.FIELD) {
          const name = (selection.alias ?? selection.name).value
          const entry = byName.get(name) ?? { times: 0, sets: [] }
          byName.set(name, entry)
          entry.times += 1
          if (selection.selectionSet) entry.sets.push(selection.selectionSet)
        } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, seen)
        else if (!seen.has(selection.name.value)) {
          seen.add(selection.name.value)
          spreads += 1
          const fragment = fragments.get(selection.name.value)
          if (fragment) collect(fragment.selectionSet, seen)
        }
      }
    }
  }
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2
}
