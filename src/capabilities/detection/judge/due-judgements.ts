import { sql } from '../../../platform/relational/index.ts'
import type { TaskDetection } from '../findings/detections-store.ts'
import type { TaskKey } from '../findings/due-tasks.ts'
import type { DetectionDb } from '../ports.ts'

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

/** Claims one task, due or not; undefined while it is claimed by somebody else. */
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
