import { type ClaimVerdict, claimVerdicts } from '../../../model/claim-verdict.ts'
import type { Range } from '../../provenance/text/index.ts'

export const verdicts = claimVerdicts
export type Verdict = ClaimVerdict

/** A location in a source that a verdict relies on. */
interface Evidence {
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
  /** The other number that an undecided passage has instead of the claim's, such as `$49`. */
  readonly differs?: string | undefined
}
