/**
 * Validation compares every two fields that go to the same place of the answer, and every two fragments there: its
 * work grows with the square of how often a document repeats itself. This counts those pairs without comparing them.
 */
import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql'

/** Of a document without cycles, whose fields have been counted: each field is looked at once for each way to it. */
export function countOverlaps(
  selectionSet: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  return count([selectionSet])

  /** `sets` are merged: they belong to the same place. */
  function count(sets: readonly SelectionSetNode[]): number {
    const places = new Map<string, { times: number; sets: SelectionSetNode[] }>()
    let spreads = 0
    for (const each of sets) collect(each, new Set())

    let pairs = pairsOf(spreads)
    for (const { times, sets: inner } of places.values()) {
      pairs += pairsOf(times)
      if (inner.length > 0) pairs += count(inner)
    }
    return pairs

    function collect({ selections }: SelectionSetNode, seen: Set<string>): void {
      for (const selection of selections) {
        if (selection.kind === Kind.FIELD) {
          const name = (selection.alias ?? selection.name).value
          const place = places.get(name) ?? { times: 0, sets: [] }
          places.set(name, place)
          place.times += 1
          if (selection.selectionSet) place.sets.push(selection.selectionSet)
        } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, seen)
        else if (!seen.has(selection.name.value)) {
          // The same fragment again adds nothing.
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
