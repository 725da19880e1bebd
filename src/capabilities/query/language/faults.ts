/** An error in a query's body, and its path. */
export type QueryFault = { path: (string | number)[]; message: string }

/** A list of faults, so that one answer names all errors of a body. */
export type Faults = {
  add: (path: readonly (string | number)[], message: string) => undefined
  readonly list: readonly QueryFault[]
}

/** Opens an empty list of faults. */
export function collectFaults(): Faults {
  const list: QueryFault[] = []
  return {
    list,
    add: (path, message) => {
      list.push({ path: [...path], message })
      return undefined
    },
  }
}

/** Returns a message that quotes the input, cut to 80 characters, and says what was expected. */
export function unexpected(input: unknown, expected: string): string {
  return `got ${JSON.stringify(input)?.slice(0, 80)}, expected ${expected}`
}

/** Returns the names that a mistyped one may mean: nearest first, 3 at most. */
export function nearNames(given: string, names: readonly string[]): string[] {
  const wanted = given.slice(0, given_max).toLowerCase()
  const farthest = Math.max(2, Math.floor(wanted.length / 3))
  return names
    .map((name) => ({ name, distance: editDistance(wanted, name) }))
    .filter(({ name, distance }) => distance <= farthest || isPart(wanted, name))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}

const given_max = 40

function isPart(wanted: string, name: string): boolean {
  return wanted.length >= 4 && (name.includes(wanted) || wanted.includes(name))
}

/** Counts the letters to add, drop or change (Levenshtein distance). */
function editDistance(a: string, b: string): number {
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
