/**
 * Tells whether two texts of arguments have the same words. Labels have arguments as they are
 * written (JSON, tags, a line), runs have them as JSON, so keys, tags and signs do not count.
 */
export function haveEqualWords(one: string, other: string): boolean {
  const left = wordsOf(one)
  const right = wordsOf(other)
  return (
    left === right ||
    (left !== '' && right !== '' && (left.endsWith(right) || right.endsWith(left)))
  )
}

function wordsOf(text: string): string {
  const values = readValues(text) ?? text.replaceAll(/<\/?[\w-]+>|\b[\w-]+=(?=")/g, ' ')
  return (values.match(/[\p{L}\p{N}]+/gu) ?? []).sort().join(' ').toLowerCase()
}

/** Returns the values of JSON as text; undefined for other texts. */
function readValues(text: string): string | undefined {
  try {
    return listValues(JSON.parse(text)).join(' ')
  } catch {
    return undefined
  }
}

function listValues(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listValues)
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(listValues)
  // A string may have tags of its own, as the label does.
  return [String(value).replaceAll(/<\/?[\w-]+>/g, ' ')]
}
