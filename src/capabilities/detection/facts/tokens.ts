/** Words of a text that take part in a comparison; the rest of a long text is left out. */
export const tokens_max = 1024

/**
 * The set of words (letters, digits and underscores of any script, lower case) of a text: its first
 * `tokens_max` different ones.
 */
export function toTokenSet(text: string): ReadonlySet<string> {
  const tokens = new Set<string>()
  for (const [token] of text.toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) {
    tokens.add(token)
    if (tokens.size >= tokens_max) break
  }
  return tokens
}

/** Shared tokens by all tokens of both, 0..1; two empty sets are alike. */
export function getJaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 && other.size === 0) return 1
  const [small, large] = one.size <= other.size ? [one, other] : [other, one]
  let shared = 0
  for (const token of small) if (large.has(token)) shared++
  return shared / (one.size + other.size - shared)
}

/** A text without what differs in looks only: case, white space, and the mark at its end. */
export function toPlainText(text: string): string {
  const plain = text.toLowerCase().replace(/\s+/g, ' ').trim()
  return plain.replace(/[.!?…]{1,8}$/, '')
}
