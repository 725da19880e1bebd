import { type RiskFacts, riskOfFindings } from '../../incidents/index.ts'

/** Facts about a task that decide its position in the queue. */
export type ReviewFacts = {
  /** Findings that were not withdrawn. */
  findings: RiskFacts['findings']
  /** Trust score of the task's newest verified answer, 0–1; null without a verified answer. */
  trust: number | null
  /** Share of that answer's claims that a verifier decided, 0–1; null without such an answer. */
  coverage: number | null
  /** Whether end users gave negative feedback. */
  is_negative: boolean
  /** Whether a reviewer has labelled the task. */
  is_labelled: boolean
}

export const reviewFactors = ['findings', 'feedback', 'trust', 'uncertainty'] as const
export type ReviewFactor = (typeof reviewFactors)[number]

/** Weights of the factors. They add up to 1. */
export const reviewWeights: Readonly<Record<ReviewFactor, number>> = {
  findings: 0.4,
  feedback: 0.25,
  trust: 0.2,
  uncertainty: 0.15,
}

/** The risk of a task, 0–1, and the value of each factor, 0–1. */
export type ReviewRisk = { risk: number; factors: Record<ReviewFactor, number> }

/**
 * Computes how urgently a task should be reviewed: the weighted sum of
 * - findings: 1 − Π(1 − risk of the finding), with the risks of the high-risk tasks;
 * - feedback: 1 for negative feedback without a label;
 * - trust: 1 − trust; 0 if the task was not verified;
 * - uncertainty: how useful a label is. The maximum of 4c(1 − c) over findings of confidence c, and
 *   of the share of claims that no verifier decided.
 * Unlike in the risk of high-risk tasks, an unknown factor counts as 0: a task needs a reason.
 */
export function reviewRisk(facts: ReviewFacts): ReviewRisk {
  const { findings, trust, coverage, is_negative, is_labelled } = facts
  const unsure = findings.map(({ confidence }) => 4 * confidence * (1 - confidence))
  const factors = {
    findings: riskOfFindings(findings),
    feedback: is_negative && !is_labelled ? 1 : 0,
    trust: trust === null ? 0 : 1 - trust,
    uncertainty: Math.max(0, ...unsure, coverage === null ? 0 : 1 - coverage),
  }
  const risk = reviewFactors.reduce((sum, one) => sum + reviewWeights[one] * factors[one], 0)
  return { risk: Math.min(1, risk), factors }
}
