import type { FindingDraft } from '../contract.ts'
import { placeKey } from '../facts/index.ts'
import type { Step, TaskRun } from '../reconstruction/index.ts'

/**
 * Loop types, strongest first: the strongest says most about the cause. Other types (a chant within
 * one answer, a budget) are unrelated and never replace one of these.
 */
const strength = [
  'repeat_error',
  'repeat_call',
  'cycle',
  'monologue',
  'error_streak',
  'similar_call',
  'scattered_repeat',
]

/** Minimum covered share of a finding's steps to count as the same loop. */
const coveredShare = 0.5

/**
 * Reduces overlapping loops to the strongest one, which lists the other types in its evidence as
 * `also`. Findings of other kinds keep their positions.
 */
export function applyLoopPrecedence(
  run: TaskRun,
  findings: readonly FindingDraft[],
): FindingDraft[] {
  const ranked = findings.filter(isRanked).toSorted(compareStrength)
  if (ranked.length < 2) return [...findings]
  const stepOf = indexSteps(run)
  const dropped = new Set<FindingDraft>()
  const also = new Map<FindingDraft, string[]>()
  const kept: Span[] = []
  for (const finding of ranked) {
    const span = spanOf(run, finding, stepOf)
    const stronger = kept.find((other) => isCovered(span, other))
    if (stronger === undefined) kept.push(span)
    else {
      dropped.add(finding)
      const types = also.get(stronger.finding) ?? []
      if (!types.includes(finding.type)) also.set(stronger.finding, [...types, finding.type])
    }
  }
  return findings
    .filter((finding) => !dropped.has(finding))
    .map((finding) => nameOthers(finding, also))
}

type Span = { finding: FindingDraft; thread: number; steps: readonly Step[] }

function isRanked({ kind, type }: FindingDraft): boolean {
  return kind === 'loop' && strength.includes(type)
}

function compareStrength(one: FindingDraft, other: FindingDraft): number {
  return (
    strength.indexOf(one.type) - strength.indexOf(other.type) ||
    (one.start_step ?? 0) - (other.start_step ?? 0)
  )
}

function indexSteps(run: TaskRun): Map<string, Step> {
  const steps = new Map<string, Step>()
  for (const step of run.steps) {
    const call = run.calls[step.call]
    if (call) steps.set(placeKey(call), step)
  }
  return steps
}

function spanOf(run: TaskRun, finding: FindingDraft, stepOf: ReadonlyMap<string, Step>): Span {
  const steps = finding.places.flatMap((place) => stepOf.get(placeKey(place)) ?? [])
  return { finding, thread: run.steps[finding.start_step ?? -1]?.thread ?? -1, steps }
}

function isCovered({ steps, thread }: Span, by: Span): boolean {
  if (thread !== by.thread || steps.length === 0) return false
  const start = by.finding.start_step ?? 0
  const end = by.finding.end_step ?? start
  if ((steps.at(-1)?.index ?? 0) < start || (steps[0]?.index ?? 0) > end) return false
  const within = steps.filter(({ index }) => index >= start && index <= end)
  return within.length >= coveredShare * steps.length
}

function nameOthers(
  finding: FindingDraft,
  also: ReadonlyMap<FindingDraft, string[]>,
): FindingDraft {
  const types = also.get(finding)
  return types === undefined
    ? finding
    : { ...finding, evidence: { ...finding.evidence, also: types } }
}
