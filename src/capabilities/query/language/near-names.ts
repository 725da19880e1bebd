/** The names that a mistyped one may mean, nearest first, 3 at most. */
export function nearNames(given: string, names: readonly string[]): string[] {
  const wanted = given.slice(0, given_max).toLowerCase()
  const farthest = Math.max(2, Math.floor(wanted.length / 3))
  return names
    .map((name) => ({ name, distance: distanceOf(wanted, name) }))
    .filter(({ name, distance }) => distance <= farthest || partOf(wanted, name))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}

const given_max = 40

function partOf(wanted: string, name: string): boolean {
  return wanted.length >= 4 && (name.includes(wanted) || wanted.includes(name))
}

/** Letters to add, drop or change (Levenshtein), row by row. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
