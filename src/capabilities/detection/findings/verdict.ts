import { dollarsFrom, nanoDollarsFrom } from '../../../kernel/dollars.ts'
import type { TaskVerdict } from '../../../platform/relational/index.ts'
import type { Evidence, FindingDraft, FindingKind, Severity, ValueCounts } from '../contract.ts'
import { placeKey, severityRank, wasteOfCalls } from '../facts/index.ts'
import type { Place, TaskRun } from '../reconstruction/index.ts'
import type { Finding } from './finding.ts'
import type { NewFinding } from './new-findings.ts'
import { type Checks, describeUnmetNeeds } from './unmet-needs.ts'

/** Columns of a task's row, used by the filters and sorting of lists. */
export type VerdictColumns = {
  /** 0 none, 1 info … 5 critical. */
  worst_severity: number
  wasted_tokens: number
  /** Decimal USD. */
  wasted_cost_usd: string
  verdict: TaskVerdict
}

/** The parts of an analysis that a verdict reads. */
type AnalysisFacts = Checks & {
  values: ValueCounts | null
  wasted_calls?: ReadonlyMap<string, readonly number[]>
}

/** Summarises the findings of a task that are not withdrawn. */
export function toVerdictColumns(
  run: TaskRun,
  findings: readonly (Finding | NewFinding)[],
  { detected_at, analysis }: { detected_at: string; analysis: AnalysisFacts },
): VerdictColumns {
  const { values } = analysis
  const counts: Record<Severity, number> = { info: 0, low: 0, medium: 0, high: 0, critical: 0 }
  let worst_severity = 0
  for (const { severity } of findings) {
    counts[severity] += 1
    worst_severity = Math.max(worst_severity, severityNumber(severity))
  }
  const facts = findings.map((finding) => {
    const wasted_calls = analysis.wasted_calls?.get(finding.finding_id)
    const wasted_nano_dollars = nanoDollarsFrom(finding.wasted_cost_usd)
    return { ...finding, wasted_nano_dollars, ...(wasted_calls && { wasted_calls }) }
  })
  const waste = sumWaste(facts, run)
  const cause = findRootCause(facts, run)
  const causing = facts.find(({ evidence }) => evidence === cause?.evidence)
  return {
    worst_severity,
    wasted_tokens: waste.tokens,
    wasted_cost_usd: dollarsFrom(waste.nano_dollars),
    verdict: {
      findings: counts,
      recovered: findings.filter(({ recovered }) => recovered).length,
      root_cause:
        cause === null || causing === undefined
          ? null
          : {
              finding_id: causing.finding_id,
              type: cause.type,
              step: cause.step,
              trace_id: cause.place?.trace_id ?? null,
              observation_id: cause.place?.observation_id ?? null,
              evidence: cause.evidence,
            },
      summary: writeVerdictSentence(facts, run, {
        state: run.state ?? 'running',
        values,
        checks: analysis,
      }),
      detected_at,
      values,
    },
  }
}

/** Returns 1 for `info` up to 5 for `critical`. */
export function severityNumber(severity: Severity): number {
  return severityRank(severity) + 1
}

/** The first finding from which a task never recovered. */
type RootCause = {
  kind: FindingKind
  type: string
  severity: Severity
  /** Index in `TaskRun.steps`; null if no step was reached, such as for a failed call. */
  step: number | null
  place: Place | null
  summary: string
  evidence: Evidence
}

/** Returns the earliest unrecovered finding of at least medium severity; null without one. */
export function findRootCause(findings: readonly FindingFacts[], run: TaskRun): RootCause | null {
  const open = findings.filter((finding) => !finding.recovered && isSerious(finding))
  const [cause] = sortByBeginning(open, run)
  if (cause === undefined) return null
  return {
    kind: cause.kind,
    type: cause.type,
    severity: cause.severity,
    step: cause.start_step,
    place: cause.places[0] ?? null,
    summary: cause.summary,
    evidence: cause.evidence,
  }
}

function isSerious({ severity }: Pick<FindingFacts, 'severity'>): boolean {
  return severityRank(severity) >= severityRank('medium')
}

/** State in the task's record. */
type TaskState = 'running' | 'completed' | 'failed'

const verdict_chars_max = 600

/** Facts that a verdict states beside the findings. */
type VerdictFacts = { state: TaskState; values?: ValueCounts | null; checks?: Checks }

/** Writes one sentence about how a task went, based only on its findings. */
export function writeVerdictSentence(
  findings: readonly FindingFacts[],
  run: TaskRun,
  { state, values = null, checks }: VerdictFacts,
): string {
  const cause = findRootCause(findings, run)
  const gaps = checks && describeUnmetNeeds(checks)
  const outcome =
    cause === null
      ? describeWithoutCause(findings, run, { state, hasGaps: gaps !== undefined })
      : describeCause(cause, state)
  const sentence = [
    outcome,
    ...listOthers(findings, cause),
    ...describeWaste(findings, run),
    ...describeUnchecked(values),
    ...(gaps === undefined ? [] : [gaps]),
  ].join('; ')
  return `${cutAt(toOneLine(sentence), verdict_chars_max)}.`
}

/** Quotations can have line breaks, and are a part of the sentence. */
function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function describeUnchecked(values: ValueCounts | null): string[] {
  if (values === null || values.not_checked === 0) return []
  const { checked, not_checked } = values
  const verb = not_checked === 1 ? 'was' : 'were'
  return [`${not_checked} of ${countOf(checked + not_checked, 'value')} ${verb} not checked`]
}

function describeCause(cause: RootCause, state: TaskState): string {
  const step = cause.step === null ? 'before a step was reached' : `at step ${cause.step + 1}`
  const opening = {
    running: `The task runs and went wrong ${step}`,
    completed: `The task was completed but went wrong ${step}`,
    failed: `The task failed; it went wrong ${step}`,
  }[state]
  return `${opening}: ${toClause(cause.summary)}`
}

function describeWithoutCause(
  findings: readonly FindingFacts[],
  run: TaskRun,
  { state, hasGaps }: { state: TaskState; hasGaps: boolean },
): string {
  const opening = {
    running: 'The task runs',
    completed: 'The task was completed',
    failed: 'The task failed',
  }[state]
  const size = `${opening} after ${countOf(run.steps.length, 'step')} and ${countOf(run.tools.length, 'tool call')}`
  if (findings.some((finding) => finding.recovered && finding.severity !== 'info')) {
    return `${size} and got over what went wrong`
  }
  if (state === 'failed') return `${size}, and nothing found in it tells why`
  const minor = findings.filter(({ severity }) => severity === 'low').map(({ type }) => type)
  if (minor.length > 0) return `${size}, with minor findings only: ${listTypes(minor)}`
  return hasGaps
    ? `${size}; the checks that ran found nothing wrong`
    : `${size} with nothing wrong found`
}

function listOthers(findings: readonly FindingFacts[], cause: RootCause | null): string[] {
  const serious = findings.filter(
    (finding) => isSerious(finding) && finding.summary !== cause?.summary,
  )
  return serious.length === 0 ? [] : [`also found: ${listTypes(serious.map(({ type }) => type))}`]
}

/** Returns types with their number: `cycle × 2, refusal`. */
function listTypes(types: readonly string[]): string {
  const byType = [...Map.groupBy(types, (type) => type)]
  const named = byType
    .slice(0, types_max)
    .map(([type, { length }]) => (length === 1 ? type : `${type} × ${length}`))
  return `${named.join(', ')}${byType.length > types_max ? ' and more' : ''}`
}

const types_max = 3

/**
 * Sums the waste of findings. A call that several findings name counts once; a stored finding without
 * its calls adds at most what is left of the total.
 */
function sumWaste(findings: readonly WasteFacts[], run: TaskRun) {
  const calls = new Set(findings.flatMap(({ wasted_calls = [] }) => wasted_calls))
  const known = wasteOfCalls(run, calls)
  let tokens = known.wasted_tokens
  let nano_dollars = known.wasted_nano_dollars
  for (const finding of findings) {
    if (finding.wasted_calls !== undefined) continue
    tokens += finding.wasted_tokens
    nano_dollars += finding.wasted_nano_dollars
  }
  const total = wasteOfCalls(run, new Set(run.calls.keys()))
  if (nano_dollars > total.wasted_nano_dollars) nano_dollars = total.wasted_nano_dollars
  return { tokens: Math.min(tokens, total.wasted_tokens), nano_dollars }
}

type WasteFacts = Pick<FindingFacts, 'wasted_tokens' | 'wasted_nano_dollars' | 'wasted_calls'>

function describeWaste(findings: readonly WasteFacts[], run: TaskRun): string[] {
  const { tokens, nano_dollars } = sumWaste(findings, run)
  if (tokens === 0 && nano_dollars === 0n) return []
  const cost = nano_dollars === 0n ? '' : ` ($${dollarsFrom(nano_dollars)})`
  return [`about ${countOf(tokens, 'token')}${cost} wasted`]
}

function countOf(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

/** Removes the final period, to embed a sentence in another one. */
function toClause(sentence: string): string {
  return sentence.endsWith('.') ? sentence.slice(0, -1) : sentence
}

function cutAt(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
}

/** The parts of a finding, stored or new, that root causes and verdicts read. */
type FindingFacts = Pick<
  FindingDraft,
  | 'kind'
  | 'type'
  | 'severity'
  | 'summary'
  | 'start_step'
  | 'places'
  | 'recovered'
  | 'evidence'
  | 'wasted_tokens'
  | 'wasted_nano_dollars'
  | 'wasted_calls'
>

/**
 * Sorts findings by the start of their observations; at the same call failures come first, then
 * higher severities. Findings without an observation in the run come last.
 */
function sortByBeginning<F extends FindingFacts>(findings: readonly F[], run: TaskRun): F[] {
  const callAt = new Map(run.calls.map((call) => [placeKey(call), call.index]))
  for (const { asked_by, step } of run.tools) {
    const key = placeKey(asked_by)
    const call = step === null ? undefined : run.steps[step]?.call
    if (call !== undefined && !callAt.has(key)) callAt.set(key, call)
  }
  const positionOf = ({ start_step, places }: F): number => {
    const call = start_step === null ? undefined : run.steps[start_step]?.call
    if (call !== undefined) return call
    const [place] = places
    return (place === undefined ? undefined : callAt.get(placeKey(place))) ?? Infinity
  }
  return findings
    .map((finding) => ({ finding, position: positionOf(finding) }))
    .sort((a, b) => order(a.position, b.position) || compareSeverity(a.finding, b.finding))
    .map(({ finding }) => finding)
}

function order(a: number, b: number): number {
  return a === b ? 0 : a - b
}

function compareSeverity(a: FindingFacts, b: FindingFacts): number {
  const byKind = Number(b.kind === 'failure') - Number(a.kind === 'failure')
  return byKind || severityRank(b.severity) - severityRank(a.severity) || (a.type < b.type ? -1 : 1)
}
