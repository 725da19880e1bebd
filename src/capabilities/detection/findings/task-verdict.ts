import { dollarsFrom, nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { TaskVerdict } from '../../../platform/relational/index.ts'
import { type Severity, severities } from '../contract.ts'
import { rootCauseOf, verdictOf } from '../detectors/failures/index.ts'
import type { TaskRun } from '../reconstruction/contract.ts'
import type { Finding } from './finding.ts'
import type { NewFinding } from './new-findings.ts'

/** What is written to a task's row, where lists filter and sort by it. */
export type VerdictColumns = {
  /** 0 none, 1 info … 5 critical. */
  worst_severity: number
  wasted_tokens: number
  /** Decimal USD. */
  wasted_cost_usd: string
  verdict: TaskVerdict
}

/**
 * What findings that are not withdrawn say of a task as a whole. Findings may call the same calls
 * wasted; a task never wastes more than it took.
 */
export function taskVerdict(
  run: TaskRun,
  findings: readonly (Finding | NewFinding)[],
  detected_at: string,
): VerdictColumns {
  const counts: Record<Severity, number> = { info: 0, low: 0, medium: 0, high: 0, critical: 0 }
  let worst_severity = 0
  for (const { severity } of findings) {
    counts[severity] += 1
    worst_severity = Math.max(worst_severity, severityNumber(severity))
  }
  const facts = findings.map((finding) => ({
    ...finding,
    wasted_nano_dollars: nanoDollarsFrom(finding.wasted_cost_usd),
  }))
  const cause = rootCauseOf(facts, run)
  const of = facts.find(({ evidence }) => evidence === cause?.evidence)
  return {
    worst_severity,
    ...wasteOf(run, facts),
    verdict: {
      findings: counts,
      recovered: findings.filter(({ recovered }) => recovered).length,
      root_cause:
        cause === null || of === undefined
          ? null
          : {
              finding_id: of.finding_id,
              type: cause.type,
              step: cause.step,
              evidence: cause.evidence,
            },
      summary: verdictOf(facts, run, run.state ?? 'running'),
      detected_at,
    },
  }
}

/** 1 for `info` up to 5 for `critical`. */
export function severityNumber(severity: Severity): number {
  return severities.indexOf(severity) + 1
}

function wasteOf(
  { calls }: TaskRun,
  facts: readonly { wasted_tokens: number; wasted_nano_dollars: bigint }[],
): { wasted_tokens: number; wasted_cost_usd: string } {
  let tokens = 0
  let nano = 0n
  for (const fact of facts) {
    tokens += fact.wasted_tokens
    nano += fact.wasted_nano_dollars
  }
  let tokens_max = 0
  let nano_max = 0n
  for (const { input_tokens, output_tokens, nano_dollars } of calls) {
    tokens_max += (input_tokens ?? 0) + (output_tokens ?? 0)
    nano_max += nano_dollars ?? 0n
  }
  return {
    wasted_tokens: Math.min(tokens, tokens_max),
    wasted_cost_usd: dollarsFrom(nano < nano_max ? nano : nano_max),
  }
}
