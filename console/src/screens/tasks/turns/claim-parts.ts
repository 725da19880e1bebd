import type { TurnClaim } from '../../../api/schema.gen.d.ts'

/** A part of an answer, and the claims that it belongs to. */
export type ClaimPart = { at: number; text: string; claims: readonly TurnClaim[] }

/**
 * Splits an answer at the ends of its claims, which may overlap. Offsets of claims are in the whole
 * answer; of a text that was cut, the claims behind the cut have no part.
 */
export function splitClaims(text: string, claims: readonly TurnClaim[]): ClaimPart[] {
  const inside = claims.flatMap(({ at }) => at).filter((at) => at > 0 && at < text.length)
  const starts = [...new Set([0, ...inside])].sort((a, b) => a - b)
  const parts = starts.map((at, index) => {
    const end = starts[index + 1] ?? text.length
    const own = claims.filter(({ at: [first = 0, last = 0] }) => first <= at && end <= last)
    return { at, text: text.slice(at, end), claims: own }
  })
  return parts.filter((part) => part.text !== '')
}
