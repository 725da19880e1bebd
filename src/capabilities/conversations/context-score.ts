import type { Finding } from '../detection/index.ts'

/** What one finding takes from the score: the score is multiplied by `factor`. */
export type ScorePart = {
  finding_id: string
  task_id: string
  type: string
  severity: Finding['severity']
  confidence: number
  weight: number
  factor: number
}

export type ContextScore = {
  /** 0..1; null under two turns, because nothing can be lost in one. */
  score: number | null
  parts: ScorePart[]
  /** The fullest that a model's window was, 0 up; null when no call was near to it. */
  window_fill: number | null
  /** What that takes from the score, at most 0.2. */
  window_penalty: number
}

/**
 * How well a conversation kept its context: Π(1 − weight · severity · confidence) over its findings,
 * less up to 0.2 for a window that is more than 0.8 full. Findings of `info` take nothing.
 */
export function contextScore(findings: readonly Finding[], turns: number): ContextScore {
  const parts = findings.flatMap(partOf)
  const fills = findings.flatMap(({ type, evidence }) => {
    const fill = type === 'context_overflow' ? evidence['fill'] : undefined
    return typeof fill === 'number' ? [fill] : []
  })
  const window_fill = fills.length === 0 ? null : Math.max(...fills)
  const window_penalty = rounded(Math.min(penalty_max, Math.max(0, (window_fill ?? 0) - fill_from)))
  const product = parts.reduce((score, { factor }) => score * factor, 1)
  const score = turns < turns_min ? null : rounded(Math.max(0, product - window_penalty))
  return { score, parts, window_fill, window_penalty }
}

const turns_min = 2
const fill_from = 0.8
const penalty_max = 0.2

/**
 * How much of a conversation's worth each type costs at its worst: what misleads the user most
 * weighs most. What only may lead to a loss, such as a full window, weighs least.
 */
const weights: Readonly<Record<string, number>> = {
  contradicted_fact: 0.7,
  lost_context: 0.6,
  conversation_reset: 0.5,
  repeated_question: 0.4,
  context_truncated: 0.3,
  context_overflow: 0.3,
}

const severityShare: Readonly<Record<Finding['severity'], number>> = {
  info: 0,
  low: 0.25,
  medium: 0.5,
  high: 0.75,
  critical: 1,
}

function partOf(finding: Finding): ScorePart[] {
  const { finding_id, task_id, type, severity, confidence } = finding
  const weight = weights[type] ?? 0
  const share = weight * severityShare[severity] * confidence
  if (share === 0) return []
  return [{ finding_id, task_id, type, severity, confidence, weight, factor: rounded(1 - share) }]
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
