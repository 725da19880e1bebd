/** A value as JSON that fits into a number of characters. */
export type FittedJson = {
  /** Valid JSON. */
  text: string
  /** Characters of the whole value. */
  characters: number
  /** Texts or items were left out. */
  is_cut: boolean
  /** Items of lists were left out, so that the next page of a list would skip them. */
  items_cut: boolean
}

/** Steps of cutting, from mild to hard: characters of a text, items of a list. */
const steps: readonly { text_max: number; items_max: number }[] = [
  ...[4_000, 1_000, 300].map((text_max) => ({ text_max, items_max: Number.POSITIVE_INFINITY })),
  ...[50, 20, 10, 5].map((items_max) => ({ text_max: 200, items_max })),
  ...[3, 1].map((items_max) => ({ text_max: 80, items_max })),
]

/**
 * Writes a value as JSON of at most `characters_max` characters. Shortens long texts first, then
 * lists, then cuts the JSON itself into a text.
 */
export function fitJson(value: unknown, characters_max: number): FittedJson {
  const whole = JSON.stringify(value) ?? 'null'
  const { length: characters } = whole
  if (characters <= characters_max) {
    return { text: whole, characters, is_cut: false, items_cut: false }
  }
  for (const step of steps) {
    const seen = { items_cut: false }
    const text = JSON.stringify(shorten(value, step, seen))
    if (text.length <= characters_max) return { text, characters, is_cut: true, ...seen }
  }
  return { text: cutText(whole, characters_max), characters, is_cut: true, items_cut: true }
}

/** Returns the longest start of a text that fits as a JSON string; a quote needs two characters. */
function cutText(whole: string, characters_max: number): string {
  let kept = characters_max
  let text = JSON.stringify(whole.slice(0, kept))
  while (text.length > characters_max && kept > 0) {
    kept = Math.max(0, kept - (text.length - characters_max))
    text = JSON.stringify(whole.slice(0, kept))
  }
  return text
}

function shorten(
  value: unknown,
  step: { text_max: number; items_max: number },
  seen: { items_cut: boolean },
): unknown {
  if (typeof value === 'string') return shortenText(value, step.text_max)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const kept = value.slice(0, step.items_max).map((item) => shorten(item, step, seen))
    if (kept.length === value.length) return kept
    seen.items_cut = true
    return [...kept, `… ${value.length - kept.length} more items`]
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, shorten(inside, step, seen)]),
  )
}

function shortenText(text: string, text_max: number): string {
  if (text.length <= text_max) return text
  return `${text.slice(0, text_max)}… ${text.length - text_max} more characters`
}
