export type Repetition = {
  repeats: number
  /** The repeats from which on it is a finding. */
  threshold: number
  /** A result that the pattern would have is not known. */
  is_result_missing: boolean
  /** The stream of one of its answers ended early. */
  is_partial: boolean
}

/** How sure a repetition is, 0..1: the rule of `docs/internals/detection.md`. */
export function repetitionConfidence(found: Repetition): number {
  const beyond = Math.max(0, found.repeats - found.threshold)
  const certain = 1 - 0.5 ** (beyond + 1)
  return certain * (found.is_result_missing ? 0.8 : 1) * (found.is_partial ? 0.6 : 1)
}
