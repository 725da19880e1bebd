/**
 * Verdicts on a claim of an answer. `likely`: a passage has the words, numbers and names of the claim.
 * It decides nothing, because a sentence with the same words may say something else.
 */
export const claimVerdicts = [
  'supported',
  'likely',
  'contradicted',
  'not_found',
  'unverifiable',
  'skipped',
] as const
export type ClaimVerdict = (typeof claimVerdicts)[number]
