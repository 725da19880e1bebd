import type { Severity } from '../../../../model/severity.ts'

/** Facts about a task of which its risk is computed. */
export type RiskFacts = {
  /** Findings that were not withdrawn. */
  findings: readonly { severity: Severity; confidence: number; state: 'open' | 'recovered' }[]
  is_failed: boolean
  calls: number
  /** Failed calls; at most `calls`. */
  errors: number
  /** Trust score, 0–1; null if the task was not verified. */
  trust: number | null
  /** Share of negative feedback, 0–1; null without feedback. */
  negative_feedback: number | null
}

export const riskFactors = ['findings', 'failures', 'trust', 'feedback'] as const
export type RiskFactor = (typeof riskFactors)[number]

/** A factor of a risk: null values are unknown, and do not count. */
export type FactorShare = {
  factor: RiskFactor
  /** 0 no risk, 1 highest. */
  value: number | null
  /** Weight among the known factors, 0–1; null for an unknown one. */
  weight: number | null
  /** Share of the risk, 0–1; the shares of the known factors add up to 1 if there is a risk. */
  share: number | null
}

/** Weights of the factors if all are known. They add up to 1. */
export const factorWeights: Readonly<Record<RiskFactor, number>> = {
  findings: 0.4,
  failures: 0.3,
  trust: 0.2,
  feedback: 0.1,
}

/** Risk of an open finding with full confidence. */
export const findingRisks: Readonly<Record<Severity, number>> = {
  info: 0.05,
  low: 0.15,
  medium: 0.35,
  high: 0.7,
  critical: 0.95,
}

/** A recovered finding counts half: the task went on. */
export const recoveredShare = 0.5

/**
 * Computes the risk of a task, 0–1, and the share of each factor. Findings add up like independent
 * causes (1 − Π(1 − risk)), so that many small ones never outweigh everything else.
 */
export function riskOf(facts: RiskFacts): { risk: number; factors: FactorShare[] } {
  const values = valuesOf(facts)
  const known = riskFactors.filter((factor) => values[factor] !== null)
  const total = known.reduce((sum, factor) => sum + factorWeights[factor], 0)
  const weighted = (factor: RiskFactor) => (factorWeights[factor] / total) * (values[factor] ?? 0)
  const risk = known.reduce((sum, factor) => sum + weighted(factor), 0)
  const factors = riskFactors.map((factor): FactorShare => {
    const value = values[factor]
    if (value === null) return { factor, value, weight: null, share: null }
    const weight = factorWeights[factor] / total
    return { factor, value, weight, share: risk === 0 ? 0 : weighted(factor) / risk }
  })
  return { risk: Math.min(risk, 1), factors }
}

function valuesOf(facts: RiskFacts): Record<RiskFactor, number | null> {
  const { findings, is_failed, calls, errors, trust, negative_feedback } = facts
  return {
    findings: riskOfFindings(findings),
    failures: is_failed ? 1 : Math.min(errors / Math.max(calls, 1), 1),
    trust: trust === null ? null : 1 - trust,
    feedback: negative_feedback,
  }
}

/** Returns the risk of findings together, 0–1: 1 − Π(1 − risk of the finding). */
export function riskOfFindings(findings: RiskFacts['findings']): number {
  const noRisk = findings.reduce((left, { severity, confidence, state }) => {
    const counted = state === 'recovered' ? recoveredShare : 1
    return left * (1 - findingRisks[severity] * confidence * counted)
  }, 1)
  return 1 - noRisk
}
