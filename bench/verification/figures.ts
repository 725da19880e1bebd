import {
  brierScore,
  calibrationError,
  type Label,
} from '../../src/capabilities/verification/trust/calibration.ts'

/** A share as a fraction. */
export type Share = { part: number; of: number }

/** Figures of one method of judging, or of all methods of a tier. */
export type MethodFigures = {
  method: string
  /** Claims that got the verdict and have it as label, of those that got it. */
  supported_right: Share
  contradicted_right: Share
  /** Claims that are `likely` and labelled supported, of those that are likely. */
  likely_right: Share
  /** Brier score and expected calibration error of both verdicts; null without any. */
  brier: number | null
  ece: number | null
}

/** Figures of a tier of verifiers on the claims of a set of the labelled data. */
export type TierFigures = {
  tier: string
  verifier: string
  claims: number
  methods: MethodFigures[]
  /** Probability that a supported claim is rated above another one. */
  auc_end_to_end: number | null
  /** The same with the labelled documents alone, as if retrieval were perfect. */
  auc_evidence_given: number | null
  /** Claims whose labelled passage is among the first passages found. */
  hit_1: Share
  hit_5: Share
}

/** Figures of the check of values. */
export type ValueFigures = {
  clean_runs_flagged: Share
  flags_right: Share
  flags_found: Share
  /** Left out in figures of 2026-11-29 and before. */
  flags_listed?: Share
  altered_noticed: Share
}

/** Figures of the extraction of claims. */
export type ExtractionFigures = { right: Share; found: Share }

/** The sets of labelled data: `facts` is a blind set of claims about structured facts. */
export const setNames = ['tuning', 'blind', 'facts'] as const
export type SetName = (typeof setNames)[number]

/** All figures of a set of the labelled data. */
export type SetFigures = {
  /** Day of the measurement, such as `2026-11-23`. */
  date: string
  extraction: ExtractionFigures
  tiers: TierFigures[]
  /** Left out for a set without runs. */
  values?: ValueFigures
}

/** `docs/reference/verification.figures.json`: figures by the name of the set. */
export type VerificationFigures = Partial<Record<SetName, SetFigures>>

/** A verdict on a claim with a label. */
type LabelledVerdict = { verdict: string; label: string; confidence: number; method: string }

/** Measures the verdicts of one method, or of all of them. */
export function measureMethod(verdicts: readonly LabelledVerdict[], method: string): MethodFigures {
  const given = verdicts.filter((one) => method === 'all' || one.method === method)
  const [supported, contradicted] = ['supported', 'contradicted'].map((verdict) =>
    given.filter((one) => one.verdict === verdict).map(toLabel),
  )
  const likely = given.filter(({ verdict }) => verdict === 'likely')
  const decided = [...(supported ?? []), ...(contradicted ?? [])]
  return {
    method,
    supported_right: rightOf(supported ?? []),
    contradicted_right: rightOf(contradicted ?? []),
    likely_right: {
      part: likely.filter(({ label }) => label === 'supported').length,
      of: likely.length,
    },
    brier: round(brierScore(decided)),
    ece: round(calibrationError(decided)),
  }
}

function toLabel({ verdict, label, confidence }: LabelledVerdict): Label {
  return { confidence, isRight: verdict === label }
}

function rightOf(labels: readonly Label[]): Share {
  return { part: labels.filter(({ isRight }) => isRight).length, of: labels.length }
}

/** Rounds to three decimals. */
export function round(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000
}
