/** A part of a comparison: in both, only in the first, or only in the second. */
export type Change = { kind: 'same' | 'removed' | 'added'; text: string }

/** Maximum parts of each side: the table of the comparison grows with their product. */
const maxDiffParts = 2_000

/**
 * Compares two lists of parts by their longest common subsequence. Returns undefined if one is
 * longer than `maxDiffParts` after the equal beginnings and ends are removed.
 */
export function diffParts(
  before: readonly string[],
  after: readonly string[],
): Change[] | undefined {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const rest = Math.min(before.length, after.length) - start
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  if (a.length > maxDiffParts || b.length > maxDiffParts) return undefined
  const same = (text: string): Change => ({ kind: 'same', text })
  return [
    ...before.slice(0, start).map(same),
    ...walkTable(a, b, commonLengths(a, b)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** Fills the table of lengths of common subsequences, from the ends; row `i`, column `j`. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const at = (index: number) => table[index] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const here = i * width + j
      table[here] =
        a[i] === b[j] ? at(here + width + 1) + 1 : Math.max(at(here + width), at(here + 1))
    }
  }
  return table
}

function walkTable(a: readonly string[], b: readonly string[], table: Uint16Array): Change[] {
  const width = b.length + 1
  const changes: Change[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    const down = table[(i + 1) * width + j] ?? -1
    const across = table[i * width + j + 1] ?? -1
    if (left !== undefined && left === right) {
      changes.push({ kind: 'same', text: left })
      ;[i, j] = [i + 1, j + 1]
    } else if (left !== undefined && (right === undefined || down >= across)) {
      changes.push({ kind: 'removed', text: left })
      i += 1
    } else {
      changes.push({ kind: 'added', text: right ?? '' })
      j += 1
    }
  }
  return changes
}

/** Compares texts line by line. */
export function diffLines(before: string, after: string): Change[] | undefined {
  return diffParts(before.split('\n'), after.split('\n'))
}

/** Compares two lines word by word; spaces and signs are parts of their own. */
export function diffWords(before: string, after: string): Change[] | undefined {
  const changes = diffParts(splitWords(before), splitWords(after))
  return changes && joinEqual(changes)
}

const splitWords = (text: string) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

function joinEqual(changes: readonly Change[]): Change[] {
  const joined: Change[] = []
  for (const change of changes) {
    const last = joined.at(-1)
    if (last?.kind === change.kind) last.text += change.text
    else joined.push({ ...change })
  }
  return joined
}

/** Formats JSON over several lines, so that a comparison by lines says which field changed. */
export function spreadJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? JSON.stringify(value, undefined, 2) : text
  } catch {
    return text
  }
}
