import type { Range } from '../text/mapped-text.ts'

/**
 * `likely`: a passage has the words, numbers and names of the claim. It decides nothing, because a
 * sentence with the same words may say something else.
 */
export const verdicts = [
  'supported',
  'likely',
  'contradicted',
  'not_found',
  'unverifiable',
  'skipped',
] as const
export type Verdict = (typeof verdicts)[number]

/** A location in a source that a verdict relies on. */
export interface Evidence {
  readonly source: string
  readonly quote: string
  /** Range in the source; absent for facts, which have no text. */
  readonly at?: Range
}

/** A verdict on a claim with its reasons. */
export interface Judgement {
  readonly verdict: Verdict
  /** Estimated probability that the verdict is right, 0–1, before calibration. */
  readonly confidence: number
  /** How the verdict was reached. */
  readonly method: 'quote' | 'words' | 'facts'
  readonly evidence: readonly Evidence[]
}
