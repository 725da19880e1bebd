import { dollarsFrom } from '../../../kernel/dollars.ts'
import { derivedId } from '../../../kernel/ids.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import {
  type Evidence,
  type FindingDraft,
  findingPlaces_max,
  type Severity,
  severities,
} from '../contract.ts'
import type { Place, TaskRun } from '../reconstruction/contract.ts'
import type { Finding } from './finding.ts'
import { storableJson, storableText } from './storable.ts'

/** A finding as it is written, before it is known when it was first found. */
export type NewFinding = Omit<Finding, 'first_detected_at' | 'updated_at'>

/** Which detector finds what; its version is kept with its findings. */
export type DetectorOfType = (type: string) => { name: string; version: number } | undefined

/** Findings of one task, the worst ones; a task has a handful. */
export const taskFindings_max = 500

/**
 * Makes of what was found in a run what is stored of it. Of two of one type and anchor the first is
 * kept; of more than `taskFindings_max` the worst.
 */
export function newFindings(
  run: TaskRun,
  drafts: readonly FindingDraft[],
  detectorOf: DetectorOfType,
): NewFinding[] {
  const starts = startsOf(run)
  const found = new Map<string, NewFinding>()
  for (const draft of worstFirst(drafts)) {
    if (found.size >= taskFindings_max) break
    const finding = newFinding(run, draft, { starts, detector: detectorOf(draft.type) })
    if (!found.has(finding.finding_id)) found.set(finding.finding_id, finding)
  }
  return [...found.values()]
}

/** The same finding has the same id, whoever finds it and however often. */
export function findingIdOf(
  { project_id, task_id }: { project_id: string; task_id: string },
  { type, anchor }: Pick<FindingDraft, 'type' | 'anchor'>,
): string {
  return derivedId(project_id, JSON.stringify(['finding', task_id, type, anchor]))
}

function worstFirst(drafts: readonly FindingDraft[]): readonly FindingDraft[] {
  if (drafts.length <= taskFindings_max) return drafts
  return drafts.toSorted((a, b) => rank(b.severity) - rank(a.severity))
}

function rank(severity: Severity): number {
  return severities.indexOf(severity)
}

function newFinding(
  run: TaskRun,
  draft: FindingDraft,
  { starts, detector }: { starts: Starts; detector: ReturnType<DetectorOfType> },
): NewFinding {
  const { project_id, task_id } = run
  const places = draft.places.slice(0, findingPlaces_max)
  return {
    finding_id: findingIdOf(run, draft),
    ...{ project_id, task_id },
    ...{ kind: draft.kind, type: draft.type, severity: draft.severity },
    detector: detector?.name ?? '',
    detector_version: detector?.version ?? 0,
    state: draft.recovered ? 'recovered' : 'open',
    summary: storableText(draft.summary).slice(0, summary_chars_max),
    ...{ start_step: draft.start_step, end_step: draft.end_step },
    ...{ period: draft.period, repeats: draft.repeats },
    places: places.map(({ trace_id, observation_id }) => ({ trace_id, observation_id })),
    trace_ids: [...new Set(places.map(({ trace_id }) => trace_id))].toSorted(),
    wasted_tokens: Math.max(0, Math.round(draft.wasted_tokens)),
    wasted_cost_usd: dollarsFrom(draft.wasted_nano_dollars),
    recovered: draft.recovered,
    confidence: Math.min(1, Math.max(0, draft.confidence)),
    evidence: evidenceOf(draft.evidence),
    judge: judgeOf(draft.evidence),
    started_at: isoFromNs(startOf(draft, run, starts)),
  }
}

const summary_chars_max = 1_000
/** A few texts of 500 characters, and what is counted. */
const evidence_chars_max = 65_536

function evidenceOf(evidence: Evidence): Evidence {
  const storable = storableJson(evidence) as Evidence
  const chars = JSON.stringify(storable).length
  return chars <= evidence_chars_max ? storable : { left_out: `${chars} characters` }
}

function judgeOf({ judge }: Evidence): string | null {
  if (typeof judge === 'string') return storableText(judge)
  if (typeof judge !== 'object' || judge === null || !('model' in judge)) return null
  return typeof judge.model === 'string' ? storableText(judge.model) : null
}

type Starts = ReadonlyMap<string, bigint>

function startsOf(run: TaskRun): Starts {
  const starts = new Map<string, bigint>()
  for (const call of run.calls) starts.set(keyOf(call), call.start_time)
  return starts
}

function keyOf({ trace_id, observation_id }: Place): string {
  return `${trace_id} ${observation_id}`
}

/** Of the first place that is known, else of the step, else of the task. */
function startOf(draft: FindingDraft, run: TaskRun, starts: Starts): bigint {
  for (const place of draft.places) {
    const start = starts.get(keyOf(place))
    if (start !== undefined) return start
  }
  const call = run.steps[draft.start_step ?? 0]?.call ?? 0
  return run.calls[call]?.start_time ?? run.tools[0]?.asked_at ?? 0n
}
