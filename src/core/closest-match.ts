/** The candidate with the smallest edit distance to `word`, for "did you mean". Undefined if none is close enough. */
export function findClosestMatch(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const mistakes = editDistance(word, candidate)
    if (mistakes < fewest) {
      fewest = mistakes
      nearest = candidate
    }
  }
  return nearest
}

/** Levenshtein distance, keeping one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
