import { dollarsFrom } from '../../../kernel/dollars.ts'
import { derivedId } from '../../../kernel/ids.ts'
import { isoFromNs } from '../../../kernel/time.ts'
import { type Evidence, type FindingDraft, maxFindingPlaces } from '../contract.ts'
import { severityRank } from '../facts/index.ts'
import { spanKey, type TaskRun } from '../reconstruction/index.ts'
import type { Finding } from './finding.ts'

/** A finding to write, before its first detection time is known. */
export type NewFinding = Omit<Finding, 'first_detected_at' | 'updated_at'>

/** The parts of a run that findings are stored with. */
type RunFacts = Pick<TaskRun, 'project_id' | 'task_id' | 'calls' | 'steps' | 'tools'>

/** Returns the detector of a finding type; its version is stored with the finding. */
type DetectorOfType = (type: string) => { name: string; version: number } | undefined

/** Maximum findings of one task; the worst are kept. */
const maxTaskFindings = 500

/**
 * Converts drafts to findings to store. Of drafts with the same type and anchor the first is kept;
 * above `maxTaskFindings` the worst are kept.
 */
export function toNewFindings(
  run: RunFacts,
  drafts: readonly FindingDraft[],
  detectorOf: DetectorOfType,
): NewFinding[] {
  const starts = startsOf(run)
  const found = new Map<string, NewFinding>()
  for (const draft of sortWorstFirst(drafts)) {
    if (found.size >= maxTaskFindings) break
    const finding = toNewFinding(run, draft, { starts, detector: detectorOf(draft.type) })
    if (!found.has(finding.finding_id)) found.set(finding.finding_id, finding)
  }
  return [...found.values()]
}

/** Returns the id of a finding, the same for each analysis and process. */
export function getFindingId(
  { project_id, task_id }: { project_id: string; task_id: string },
  { type, anchor }: Pick<FindingDraft, 'type' | 'anchor'>,
): string {
  return derivedId(project_id, JSON.stringify(['finding', task_id, type, anchor]))
}

function sortWorstFirst(drafts: readonly FindingDraft[]): readonly FindingDraft[] {
  if (drafts.length <= maxTaskFindings) return drafts
  return drafts.toSorted((a, b) => severityRank(b.severity) - severityRank(a.severity))
}

function toNewFinding(
  run: RunFacts,
  draft: FindingDraft,
  { starts, detector }: { starts: CallStarts; detector: ReturnType<DetectorOfType> },
): NewFinding {
  const { project_id, task_id } = run
  const places = draft.places.slice(0, maxFindingPlaces)
  return {
    finding_id: getFindingId(run, draft),
    project_id,
    task_id,
    kind: draft.kind,
    type: draft.type,
    severity: draft.severity,
    detector: detector?.name ?? '',
    detector_version: detector?.version ?? 0,
    state: draft.recovered ? 'recovered' : 'open',
    // Quotations can have line breaks; a summary is one line.
    summary: toStorableText(draft.summary.replace(/\s+/g, ' ')).slice(0, summary_chars_max),
    start_step: draft.start_step,
    end_step: draft.end_step,
    period: draft.period,
    repeats: draft.repeats,
    places: places.map(({ trace_id, observation_id }) => ({ trace_id, observation_id })),
    trace_ids: [...new Set(places.map(({ trace_id }) => trace_id))].toSorted(),
    wasted_tokens: Math.max(0, Math.round(draft.wasted_tokens)),
    wasted_cost_usd: dollarsFrom(draft.wasted_nano_dollars),
    recovered: draft.recovered,
    confidence: Math.min(1, Math.max(0, draft.confidence)),
    evidence: toStorableEvidence(draft.evidence),
    judge: getJudge(draft.evidence),
    started_at: isoFromNs(startOf(draft, run, starts)),
  }
}

const summary_chars_max = 1_000
/** Room for a few texts of 500 characters and some counts. */
const evidence_chars_max = 65_536

function toStorableEvidence(evidence: Evidence): Evidence {
  const storable = toStorableJson(evidence) as Evidence
  const chars = JSON.stringify(storable).length
  return chars <= evidence_chars_max ? storable : { left_out: `${chars} characters` }
}

function getJudge({ judge }: Evidence): string | null {
  if (typeof judge === 'string') return toStorableText(judge)
  if (typeof judge !== 'object' || judge === null || !('model' in judge)) return null
  return typeof judge.model === 'string' ? toStorableText(judge.model) : null
}

type CallStarts = ReadonlyMap<string, bigint>

function startsOf(run: RunFacts): CallStarts {
  const starts = new Map<string, bigint>()
  for (const call of run.calls) starts.set(spanKey(call), call.start_time)
  return starts
}

/** Returns the start of the first known place, otherwise of the step, otherwise of the task. */
function startOf(draft: FindingDraft, run: RunFacts, starts: CallStarts): bigint {
  for (const place of draft.places) {
    const start = starts.get(spanKey(place))
    if (start !== undefined) return start
  }
  const call = run.steps[draft.start_step ?? 0]?.call ?? 0
  return run.calls[call]?.start_time ?? run.tools[0]?.asked_at ?? 0n
}

/**
 * Converts JSON to what PostgreSQL can store: text without U+0000 and lone surrogates, integers
 * beyond doubles as text, no undefined. Levels below `depth_max` become null.
 */
export function toStorableJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return toStorableText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depth_max) return null
  if (Array.isArray(value)) return value.map((item) => toStorableJson(item, depth + 1) ?? null)
  const members: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const storable = toStorableJson(member, depth + 1)
    if (storable !== undefined) members.push([toStorableText(key), storable])
  }
  return Object.fromEntries(members)
}

/** Evidence has only a few levels. */
const depth_max = 12

/** Replaces what PostgreSQL cannot store in a text by U+FFFD. */
export function toStorableText(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
