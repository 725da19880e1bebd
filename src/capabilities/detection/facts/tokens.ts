/** Maximum different words of a text in a comparison. */
export const tokens_max = 1024

/**
 * Returns the set of words of a text (letters, digits and underscores of any script, in lower
 * case): the first `tokens_max` different ones.
 */
export function toTokenSet(text: string): ReadonlySet<string> {
  const tokens = new Set<string>()
  for (const [token] of text.toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) {
    tokens.add(token)
    if (tokens.size >= tokens_max) break
  }
  return tokens
}

/** Returns the shared tokens divided by all tokens of both, 0–1; 1 for two empty sets. */
export function getJaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 && other.size === 0) return 1
  const [small, large] = one.size <= other.size ? [one, other] : [other, one]
  let shared = 0
  for (const token of small) if (large.has(token)) shared++
  return shared / (one.size + other.size - shared)
}

/** Normalises case, white space and the final punctuation of a text. */
export function toPlainText(text: string): string {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').trim()
  return plain.replace(/[.!?…]{1,8}$/, '')
}
