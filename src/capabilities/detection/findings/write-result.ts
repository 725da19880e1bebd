import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { ContextMemory } from '../contract.ts'
import { detectorsDigest } from '../detectors/index.ts'
import type { DetectionDb } from '../ports.ts'
import type { Place, TaskRun } from '../reconstruction/index.ts'
import { judgeDetector } from '../settings/detector-settings.ts'
import { compareFindings } from './compare-findings.ts'
import {
  type JudgingPlan,
  lockDetection,
  markJudging,
  type TaskDetection,
  writeDetection,
} from './detections-store.ts'
import { markKnownDue, type TaskSnapshot } from './due-tasks.ts'
import type { Finding, FindingChanges } from './finding.ts'
import { findingsOf, putFindings, withdrawFindings, writeVerdict } from './findings-store.ts'
import type { Analysis } from './new-findings.ts'
import { findLaterTasks, lockTask, type TaskFacts } from './tasks-store.ts'
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
const laterTasks_max = 100

/**
 * Writes a result in one transaction that locks the task: the changes of findings, the verdict, and
 * the state of its detection. A stale result is not written.
 */
export async function writeResult(db: DetectionDb, result: TaskResult): Promise<WriteOutcome> {
  return db.transaction().execute(async (trx) => {
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
    await writeVerdict(trx, snapshot, toVerdictColumns(result.run, valid, detected_at))
    await writeDetection(trx, snapshot, toColumns(result, before), result)
    if (result.judging !== undefined) await markJudging(trx, snapshot, result.judging, before)
    if (hasChanged(before.ledger, result.ledger)) {
      await markKnownDue(trx, await findLaterTasks(trx, facts, laterTasks_max))
    }
    const changed = new Set([...put.map(({ finding_id }) => finding_id), ...withdrawn])
    const now = changed.size === 0 ? [] : await findingsOf(trx, snapshot)
    return {
      outcome: 'written',
      changes,
      changed: now.filter(({ finding_id }) => changed.has(finding_id)),
    }
  })
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
    ...{ detected_at, settings_version, ledger, user_ids, not_checked },
    detectors: detectorsDigest,
  }
}

function hasChanged(before: unknown, now: ContextMemory | null): boolean {
  return canonicalJson(before) !== canonicalJson(now)
}
