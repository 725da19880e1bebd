import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { storableText } from '../../../platform/relational/index.ts'
import type { ContextMemory } from '../contract.ts'
import { detectorsDigest } from '../detectors/index.ts'
import type { FindingContent, FindingsPorts, StoredFindings } from '../ports.ts'
import type { Place, TaskRun } from '../reconstruction/index.ts'
import { judgeDetector } from '../settings/detector-settings.ts'
import type { Analysis } from './analyse-run.ts'
import type { Finding, FindingChanges } from './finding.ts'
import {
  findingsOf,
  type JudgingPlan,
  lockDetection,
  markJudging,
  putFindings,
  type TaskDetection,
  withdrawFindings,
  writeDetection,
  writeVerdict,
} from './findings-store.ts'
import type { NewFinding } from './new-findings.ts'
import {
  findLaterTasks,
  lockTask,
  markKnownDue,
  type TaskFacts,
  type TaskSnapshot,
} from './tasks-store.ts'
import { toVerdictColumns } from './verdict.ts'

/** An analysed task with the result to write. */
type TaskResult = {
  snapshot: TaskSnapshot
  facts: TaskFacts
  run: TaskRun
  analysis: Analysis
  settings_version: number
  ledger: ContextMemory | null
  user_ids: readonly string[]
  /** Whether an observation of a finding still exists. */
  has: (place: Place) => boolean
  /** ISO 8601. */
  detected_at: string
  /** Minimum time until the worker analyses the task again. */
  rest_ms: number
  /** Only findings of these detectors are updated; default: all. */
  only?: ReadonlySet<string> | undefined
  /** Plan for the judge's questions; undefined without a judge. */
  judging?: JudgingPlan | undefined
}

type WriteOutcome =
  | { outcome: 'written'; changes: FindingChanges; changed: Finding[] }
  /** Another process wrote a result or erased content since the task was read. */
  | { outcome: 'stale' }
  | { outcome: 'gone' }

/** Maximum later tasks analysed again when the context memory changes. */
const maxLaterTasks = 100

/**
 * Writes a result in one transaction that locks the task: the changes of findings, the verdict, and
 * the state of its detection. A stale result is not written.
 */
export async function writeResult(
  { db, onFindings }: FindingsPorts,
  result: TaskResult,
): Promise<WriteOutcome> {
  let afterCommit: (() => void) | undefined
  const outcome = await db.transaction().execute(async (trx): Promise<WriteOutcome> => {
    const { snapshot, facts, detected_at } = result
    // In this order, because a transaction that marks a task as due already holds its row.
    if (!(await lockTask(trx, snapshot))) return { outcome: 'gone' }
    const before = await lockDetection(trx, snapshot)
    if (before === undefined) return { outcome: 'stale' }
    const stored = await findingsOf(trx, snapshot)
    const { changes, put, withdrawn, kept } = compareFindings({ ...toComparison(result), stored })
    await putFindings(trx, put, detected_at)
    await withdrawFindings(trx, snapshot, { ids: withdrawn, at: detected_at })
    const valid = [...selectFindings(result), ...kept]
    await writeVerdict(
      trx,
      snapshot,
      toVerdictColumns(result.run, valid, { detected_at, analysis: result.analysis }),
    )
    await writeDetection(trx, snapshot, toColumns(result, before), result)
    if (result.judging !== undefined) await markJudging(trx, snapshot, result.judging, before)
    if (hasChanged(before.ledger, result.ledger)) {
      await markKnownDue(trx, await findLaterTasks(trx, facts, maxLaterTasks))
    }
    const changed = new Set([...put.map(({ finding_id }) => finding_id), ...withdrawn])
    const now = changed.size === 0 ? [] : await findingsOf(trx, snapshot)
    // Last, because it locks the incidents of the project.
    afterCommit = await onFindings?.(trx, toStoredFindings(snapshot, put, stored))
    return {
      outcome: 'written',
      changes,
      changed: now.filter(({ finding_id }) => changed.has(finding_id)),
    }
  })
  afterCommit?.()
  return outcome
}

/** Returns stored findings of a task with their former content. */
export function toStoredFindings(
  { project_id, task_id }: { project_id: string; task_id: string },
  put: readonly FindingContent[],
  stored: readonly Finding[],
): StoredFindings {
  const before = new Map(stored.map((finding) => [finding.finding_id, finding]))
  return {
    project_id,
    task_id,
    findings: put.map((now) => ({ now, before: before.get(now.finding_id) })),
  }
}

function toComparison({ analysis, has, only }: TaskResult) {
  const { wasAnalysed } = analysis
  return {
    found: selectFindings({ analysis, only }),
    wasAnalysed: (detector: string) => (only?.has(detector) ?? true) && wasAnalysed(detector),
    isThere: has,
  }
}

function selectFindings({ analysis, only }: Pick<TaskResult, 'analysis' | 'only'>) {
  if (only === undefined) return analysis.findings
  return analysis.findings.filter(({ detector }) => only.has(detector))
}

function toColumns(result: TaskResult, before: TaskDetection) {
  const { detected_at, settings_version, analysis, ledger, user_ids, judging } = result
  const ofJudge = before.not_checked.filter(({ detector }) => detector === judgeDetector.name)
  const not_checked = [...analysis.not_checked, ...(judging === undefined ? [] : ofJudge)]
  return {
    detected_at,
    settings_version,
    ledger,
    user_ids,
    not_checked,
    tools: toolNames(result.run),
    detectors: detectorsDigest,
  }
}

/** Maximum tools of a task, and characters of a name. */
const tools_max = 100
const maxToolNameChars = 128

/** Returns the names of the tools that the task called, sorted. */
function toolNames({ tools }: TaskRun): string[] {
  const names = tools.map(({ name }) => storableText(name.slice(0, maxToolNameChars)))
  return [...new Set(names)].toSorted().slice(0, tools_max)
}

function hasChanged(before: unknown, now: ContextMemory | null): boolean {
  return canonicalJson(before) !== canonicalJson(now)
}

/** Stored and new findings to compare. */
type FindingsToCompare = {
  stored: readonly Finding[]
  found: readonly NewFinding[]
  /** False for detectors that could not analyse the run: their stored findings stay. */
  wasAnalysed: (detector: string) => boolean
  /** False for deleted observations. */
  isThere: (place: { trace_id: string; observation_id: string }) => boolean
}

/** The findings to write, and the resulting changes. */
type Comparison = {
  changes: FindingChanges
  /** New and changed findings. */
  put: NewFinding[]
  withdrawn: string[]
  /** Stored findings that could not be re-examined; they stay valid. */
  kept: Finding[]
}

/**
 * Compares new findings with the stored ones. A stored finding that was not found again is
 * withdrawn, because a late call disproved it. It stays if its detector could not analyse the run
 * or its observations were deleted.
 */
export function compareFindings({
  stored,
  found,
  wasAnalysed,
  isThere,
}: FindingsToCompare): Comparison {
  const before = new Map(stored.map((finding) => [finding.finding_id, finding]))
  const changes = {
    opened: [] as string[],
    updated: [] as string[],
    recovered: [] as string[],
    withdrawn: [] as string[],
    unchanged: [] as string[],
  }
  const put: NewFinding[] = []
  for (const finding of found) {
    const change = changeOf(before.get(finding.finding_id), finding)
    changes[change].push(finding.finding_id)
    if (change !== 'unchanged') put.push(finding)
  }
  const again = new Set(found.map(({ finding_id }) => finding_id))
  const kept: Finding[] = []
  for (const finding of stored) {
    if (again.has(finding.finding_id) || finding.state === 'withdrawn') continue
    if (wasAnalysed(finding.detector) && finding.places.every(isThere)) {
      changes.withdrawn.push(finding.finding_id)
    } else {
      kept.push(finding)
      changes.unchanged.push(finding.finding_id)
    }
  }
  return { changes, put, withdrawn: changes.withdrawn, kept }
}

function changeOf(
  before: Finding | undefined,
  now: NewFinding,
): 'opened' | 'updated' | 'recovered' | 'unchanged' {
  if (before === undefined || before.state === 'withdrawn') return 'opened'
  if (contentOf(before) === contentOf(now)) return 'unchanged'
  return now.recovered && !before.recovered ? 'recovered' : 'updated'
}

/** Returns the visible content of a finding as canonical text. */
function contentOf(finding: Finding | NewFinding): string {
  const { kind, type, severity, state, summary, detector, detector_version } = finding
  const { start_step, end_step, period, repeats, places, evidence, judge } = finding
  const { wasted_tokens, wasted_cost_usd, confidence } = finding
  const parts = [
    ...[kind, type, severity, state, summary, detector, detector_version],
    ...[start_step, end_step, period, repeats, wasted_tokens, Number(wasted_cost_usd), confidence],
    ...[judge, places, evidence],
  ]
  return canonicalJson(parts)
}

/** Combines the changes of consecutive analyses of a task. */
export function sumChanges(analyses: readonly FindingChanges[]): FindingChanges {
  const all = (change: keyof FindingChanges) => new Set(analyses.flatMap((one) => one[change]))
  const opened = all('opened')
  const withdrawn = all('withdrawn')
  const recovered = removeIds(all('recovered'), opened)
  const updated = removeIds(all('updated'), opened.union(recovered))
  const changed = opened.union(withdrawn).union(recovered).union(updated)
  return {
    opened: [...opened],
    updated: [...updated],
    recovered: [...recovered],
    withdrawn: [...withdrawn],
    unchanged: [...removeIds(all('unchanged'), changed)],
  }
}

function removeIds(ids: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...ids].filter((id) => !others.has(id)))
}
