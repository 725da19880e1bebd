/** Words that are longer are not compared. */
const word_chars_max = 64

/**
 * Returns the known word that is most like a mistyped one, or undefined: at most a third of its
 * characters differ, or it begins with the given word.
 */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  if (word === '' || word.length > word_chars_max) return undefined
  const given = word.toLowerCase()
  let best: { word: string; distance: number } | undefined
  for (const one of known) {
    if (one.length > word_chars_max) continue
    const name = one.toLowerCase()
    const distance = given.length > 1 && name.startsWith(given) ? 1 : editDistance(given, name)
    const distance_max = Math.max(1, Math.floor(Math.max(given.length, name.length) / 3))
    if (distance > distance_max || (best !== undefined && distance >= best.distance)) continue
    best = { word: one, distance }
  }
  return best?.word
}

/** Returns a sentence with the nearest known word, after a space: ` Did you mean "tasks"?`. Else ''. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const nearest = nearestWord(word, known)
  return nearest === undefined ? '' : `. Did you mean "${nearest}"?`
}

/**
 * Returns the number of characters that have to be added, removed, replaced or swapped with their
 * neighbour: the optimal string alignment distance.
 */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const replaced = (last[j - 1] ?? 0) + (isSame ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
