import { backOff } from '../../../kernel/back-off.ts'
import { sql } from '../../../platform/relational/index.ts'
import { placeKey } from '../facts/index.ts'
import type { Finding, FindingChanges, NotChecked } from '../findings/finding.ts'
import {
  findingsOf,
  putFindings,
  type TaskDetection,
  withdrawFindings,
} from '../findings/findings-store.ts'
import { type NewFinding, toNewFindings } from '../findings/new-findings.ts'
import { lockTask, markKnownDue, type TaskKey } from '../findings/tasks-store.ts'
import { compareFindings, toStoredFindings } from '../findings/write-result.ts'
import type { DetectionDb, FindingsPorts } from '../ports.ts'
import type { TaskRun } from '../reconstruction/index.ts'
import { judgeDetector } from '../settings/detector-settings.ts'
import type { Judgement } from './context-judge.ts'
import type { JudgeQuestion } from './question.ts'

/** A task claimed for the judge. */
export type JudgeClaim = TaskKey & Pick<TaskDetection, 'epoch' | 'judge_due_at' | 'judged'>

/** Claims the tasks that have been due longest. */
export async function claimJudgeDue(
  db: DetectionDb,
  { lease_ms, limit }: { lease_ms: number; limit: number },
): Promise<JudgeClaim[]> {
  const { rows } = await sql<JudgeClaim>`
    with due as (
      select project_id, task_id from task_detections
      where judge_due_at <= now() and ${isFree}
      order by judge_due_at limit ${limit} for update skip locked
    )
    update task_detections as task
    set judge_claimed_until = now() + ${lease_ms} * interval '1 ms'
    from due where (task.project_id, task.task_id) = (due.project_id, due.task_id)
    returning task.project_id, task.task_id, task.epoch, task.judge_due_at, task.judged
  `.execute(db)
  return rows
}

/** Claims one task, due or not; undefined while another process has claimed it. */
export async function claimJudgement(
  db: DetectionDb,
  { project_id, task_id }: TaskKey,
  lease_ms: number,
): Promise<JudgeClaim | undefined> {
  const { rows } = await sql<JudgeClaim>`
    update task_detections set judge_claimed_until = now() + ${lease_ms} * interval '1 ms'
    where project_id = ${project_id} and task_id = ${task_id} and ${isFree}
    returning project_id, task_id, epoch, judge_due_at, judged
  `.execute(db)
  return rows[0]
}

/** Releases an unasked task: if it was due, it is due again after a delay. */
export async function releaseJudgement(
  db: DetectionDb,
  { project_id, task_id }: TaskKey,
  delay_ms: number,
): Promise<void> {
  await sql`
    update task_detections set judge_claimed_until = null,
      judge_due_at = greatest(judge_due_at,
        case when judge_due_at is null then null else now() + ${delay_ms} * interval '1 ms' end)
    where project_id = ${project_id} and task_id = ${task_id}
  `.execute(db)
}

const isFree = sql.raw('(judge_claimed_until is null or judge_claimed_until < now())')

/** A question to the judge with its judgement. */
type JudgeResult = {
  claim: JudgeClaim
  run: TaskRun
  /** Undefined if nothing was left to ask. */
  exchange: { question: JudgeQuestion; judgement: Judgement } | undefined
  /** Digests of the answers that count as judged afterwards. */
  answers: readonly string[]
  /** ISO 8601. */
  at: string
  /** Failures after which the same answers are not judged again, and the first delay of a retry. */
  failures_max: number
  retry_ms: number
}

/**
 * Writes the judge's findings. If they change, the task is analysed again, which updates its
 * verdict. Returns undefined and writes nothing if content of the task was erased in the meantime.
 */
export async function writeJudgement(
  { db, onFindings }: FindingsPorts,
  result: JudgeResult,
): Promise<FindingChanges | undefined> {
  const { claim, at } = result
  let afterCommit: (() => void) | undefined
  const written = await db.transaction().execute(async (trx) => {
    if (!(await lockTask(trx, claim))) return undefined
    const before = await trx
      .selectFrom('task_detections')
      .select(['epoch', 'not_checked', 'judge_due_at'])
      .where('project_id', '=', claim.project_id)
      .where('task_id', '=', claim.task_id)
      .forUpdate()
      .executeTakeFirst()
    if (before?.epoch !== claim.epoch) return undefined
    const stored = await findingsOf(trx, claim)
    const { changes, put, withdrawn } = compareWithStored(result, stored)
    await putFindings(trx, put, at)
    await withdrawFindings(trx, claim, { ids: withdrawn, at })
    if (put.length + withdrawn.length > 0) await markKnownDue(trx, [claim])
    await writeState(trx, result, before)
    // Last, because it locks the incidents of the project.
    afterCommit = await onFindings?.(trx, toStoredFindings(claim, put, stored))
    return changes
  })
  afterCommit?.()
  return written
}

/** Compares with the judge's earlier findings on the same answers. */
function compareWithStored({ run, exchange }: JudgeResult, stored: readonly Finding[]) {
  const isAnswered = exchange?.judgement.outcome === 'answered'
  const drafts = exchange?.judgement.outcome === 'answered' ? exchange.judgement.findings : []
  const places = new Set(exchange?.question.answers.map(({ answer }) => placeKey(answer.call)))
  const judged = stored.filter(
    (finding) =>
      isAnswered &&
      finding.detector === judgeDetector.name &&
      finding.places.every((place) => places.has(placeKey(place))),
  )
  return compareFindings({
    stored: judged,
    found: toNewFindings(run, drafts, () => judgeDetector).filter(
      (finding) => !stored.some((known) => isFoundByRule(known, finding)),
    ),
    wasAnalysed: () => true,
    isThere: () => true,
  })
}

/** Tells whether a rule already found the same statement broken by the same answer. */
function isFoundByRule(known: Finding, { places, evidence }: NewFinding): boolean {
  const { kind, judge, state } = known
  if (kind !== 'context' || judge !== null || state === 'withdrawn') return false
  if (known.evidence['original_context'] !== evidence['original_context']) return false
  const own = new Set(places.map(placeKey))
  return known.places.some((place) => own.has(placeKey(place)))
}

type JudgeState = { not_checked: readonly NotChecked[]; judge_due_at: string | null }

async function writeState(
  trx: DetectionDb,
  { claim, exchange, answers, failures_max, retry_ms }: JudgeResult,
  before: JudgeState,
): Promise<void> {
  const judgement = exchange?.judgement
  const failures = judgement?.outcome === 'failed' ? (claim.judged?.failures ?? 0) + 1 : 0
  const isRetried = failures > 0 && failures < failures_max
  const isOver = !isRetried && judgement?.outcome !== 'over_budget'
  const judged = isOver
    ? { answers, failures: 0 }
    : { answers: claim.judged?.answers ?? [], failures }
  // A mark set in the meantime is kept.
  const due_ms = isRetried ? backOff({ base_ms: retry_ms }, failures) : null
  const isMarked = before.judge_due_at !== claim.judge_due_at
  await sql`
    update task_detections set
      judge_claimed_until = null, judged = ${JSON.stringify(judged)}::jsonb,
      judge_due_at = case when ${isMarked}::boolean then judge_due_at
        else now() + ${due_ms} * interval '1 ms' end,
      not_checked = ${JSON.stringify(updateNotChecked(before, judgement))}::jsonb
    where project_id = ${claim.project_id} and task_id = ${claim.task_id}
  `.execute(trx)
}

function updateNotChecked(
  { not_checked }: JudgeState,
  judgement: Judgement | undefined,
): NotChecked[] {
  const others = not_checked.filter(({ detector }) => detector !== judgeDetector.name)
  if (judgement === undefined) return [...not_checked]
  if (judgement.outcome === 'answered') return others
  return [...others, { detector: judgeDetector.name, reason: judgement.reason }]
}
