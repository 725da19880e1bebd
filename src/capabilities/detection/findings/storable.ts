/**
 * JSON as PostgreSQL can hold it: text without U+0000 and without halves of surrogate pairs, whole
 * numbers beyond doubles as text, nothing undefined. Deeper than `depth_max` it is left out.
 */
export function storableJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storableText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depth_max) return null
  if (Array.isArray(value)) return value.map((item) => storableJson(item, depth + 1) ?? null)
  const members: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const storable = storableJson(member, depth + 1)
    if (storable !== undefined) members.push([storableText(key), storable])
  }
  return Object.fromEntries(members)
}

/** Evidence is a few levels deep. */
const depth_max = 12

/** Text as PostgreSQL can hold it: U+FFFD stands for what it can not. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
