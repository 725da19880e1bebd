import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { ContextLedger } from '../context/ledger.ts'
import type { DetectionDb } from '../detection-deps.ts'
import { detectorsDigest, type Examination } from '../examine-run.ts'
import { judgeDetector } from '../judge/judge-detector.ts'
import { type Judging, markJudging } from '../judge/mark-judging.ts'
import type { Place, TaskRun } from '../reconstruction/contract.ts'
import { markKnownDue, type TaskHold } from '../worker/due-tasks.ts'
import { compareFindings } from './compare-findings.ts'
import type { Finding, FindingChanges } from './finding.ts'
import {
  findingsOf,
  laterTasks,
  lockDetection,
  lockTask,
  putFindings,
  type TaskDetection,
  type TaskFacts,
  withdrawFindings,
  writeDetection,
  writeVerdict,
} from './store.ts'
import { taskVerdict } from './task-verdict.ts'

/** What a task was looked at with, and what came of it. */
export type Result = {
  hold: TaskHold
  facts: TaskFacts
  run: TaskRun
  examination: Examination
  settings_version: number
  ledger: ContextLedger | null
  user_ids: readonly string[]
  /** Whether an observation is there that a finding rests on. */
  has: (place: Place) => boolean
  /** ISO 8601. */
  detected_at: string
  /** For so long the task is not looked at again by the worker. */
  rest_ms: number
  /** Only findings of these detectors are changed; left out, of all. */
  only?: ReadonlySet<string> | undefined
  /** What the judge may be asked about afterwards; undefined where there is none. */
  judging?: Judging | undefined
}

export type Written =
  | { outcome: 'written'; changes: FindingChanges; changed: Finding[] }
  /** Somebody else has written, or taken content out, since the task was read. */
  | { outcome: 'stale' }
  | { outcome: 'gone' }

/** Tasks of a conversation that are looked at again when what was said before them changes. */
const laterTasks_max = 100

/**
 * Writes a result in one transaction that holds the task: what it changes of the findings, the
 * task's verdict, and what detection knows of the task. Nothing is written when it is stale.
 */
export async function writeResult(db: DetectionDb, result: Result): Promise<Written> {
  return db.transaction().execute(async (trx) => {
    const { hold, facts, detected_at } = result
    // In this order: who marks a task holds its row by then.
    if (!(await lockTask(trx, hold))) return { outcome: 'gone' }
    const before = await lockDetection(trx, hold)
    if (before === undefined) return { outcome: 'stale' }
    const stored = await findingsOf(trx, hold)
    const { changes, put, withdrawn, kept } = compareFindings({ ...comparedOf(result), stored })
    await putFindings(trx, put, detected_at)
    await withdrawFindings(trx, hold, { ids: withdrawn, at: detected_at })
    const standing = [...standingOf(result), ...kept]
    await writeVerdict(trx, hold, taskVerdict(result.run, standing, detected_at))
    await writeDetection(trx, hold, columnsOf(result, before), result)
    if (result.judging !== undefined) await markJudging(trx, hold, result.judging, before)
    if (isOther(before.ledger, result.ledger)) {
      await markKnownDue(trx, await laterTasks(trx, facts, laterTasks_max))
    }
    const changed = new Set([...put.map(({ finding_id }) => finding_id), ...withdrawn])
    const now = changed.size === 0 ? [] : await findingsOf(trx, hold)
    return {
      outcome: 'written',
      changes,
      changed: now.filter(({ finding_id }) => changed.has(finding_id)),
    }
  })
}

function comparedOf({ examination, has, only }: Result) {
  const { wasChecked } = examination
  return {
    found: standingOf({ examination, only }),
    wasChecked: (detector: string) => (only?.has(detector) ?? true) && wasChecked(detector),
    isThere: has,
  }
}

function standingOf({ examination, only }: Pick<Result, 'examination' | 'only'>) {
  if (only === undefined) return examination.findings
  return examination.findings.filter(({ detector }) => only.has(detector))
}

function columnsOf(result: Result, before: TaskDetection) {
  const { detected_at, settings_version, examination, ledger, user_ids, judging } = result
  const ofJudge = before.not_checked.filter(({ detector }) => detector === judgeDetector.name)
  const not_checked = [...examination.not_checked, ...(judging === undefined ? [] : ofJudge)]
  return {
    ...{ detected_at, settings_version, ledger, user_ids, not_checked },
    detectors: detectorsDigest,
  }
}

function isOther(before: unknown, now: ContextLedger | null): boolean {
  return canonicalJson(before) !== canonicalJson(now)
}
