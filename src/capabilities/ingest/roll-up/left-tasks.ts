import { sql, type TaskTables, type Transaction } from '../../../platform/relational/index.ts'
import { chunksByProject, noteTasks, projectOf, type RollUpPorts, type TaskId } from './roll-up.ts'
import { taskSums } from './saturate.ts'
import { lockTasks, writeTasks } from './task-store.ts'
import { nsFromIso } from './touched.ts'

/**
 * Recomputes tasks that observations have left for others, and removes those without observations. A
 * task that has feedback or labels of people stays, with no calls, because these belong to it.
 */
export async function rollUpLeft(
  trx: Transaction<TaskTables>,
  { store, markDue }: RollUpPorts,
  left: readonly TaskId[],
): Promise<void> {
  const locked = left.length === 0 ? [] : await lockTasks(trx, left)
  await noteTasks(trx, locked)
  for (const chunk of chunksByProject(locked)) {
    const project_id = projectOf(chunk)
    const hints = chunk.map(({ task_id, started_at }) => ({ task_id, from: nsFromIso(started_at) }))
    const rollups = await store.taskRollups(project_id, hints)
    const byId = new Map(rollups.map((rollup) => [rollup.task_id, rollup]))
    const updates = chunk.flatMap((task) => {
      const rollup = byId.get(task.task_id)
      return rollup === undefined ? [] : [{ ...task, rollup }]
    })
    await writeTasks(trx, updates)
    await markDue(trx, updates)
    const empty = chunk.flatMap(({ task_id }) => (byId.has(task_id) ? [] : [task_id]))
    await removeEmptyTasks(trx, project_id, empty)
  }
}

/** Removes locked tasks whose observations have all left; a rated one loses its sums instead. */
async function removeEmptyTasks(
  trx: Transaction<TaskTables>,
  project_id: string,
  task_ids: readonly string[],
): Promise<void> {
  if (task_ids.length === 0) return
  await sql`
    with empty as (
      select task_id, exists (
        select from feedback_tasks where feedback_tasks.project_id = tasks.project_id
          and feedback_tasks.task_ref = tasks.task_id
      ) or exists (
        select from review_labels where review_labels.project_id = tasks.project_id
          and review_labels.task_id = tasks.task_id
      ) as is_rated
      from tasks where project_id = ${project_id} and task_id = any(${[...task_ids]})
    ), gone as (
      delete from tasks using empty
      where tasks.project_id = ${project_id} and tasks.task_id = empty.task_id and not is_rated
    ), told as (
      delete from task_events using empty
      where task_events.project_id = ${project_id} and task_events.task_id = empty.task_id
        and not is_rated
    ), forgotten as (
      delete from large_rollups using empty
      where large_rollups.project_id = ${project_id} and kind = 'task'
        and id = empty.task_id and not is_rated
    )
    update tasks set ${sql.raw(noSums)}, updated_at = now() from empty
    where tasks.project_id = ${project_id} and tasks.task_id = empty.task_id and is_rated
  `.execute(trx)
}

const noSums = taskSums
  .map((column) => `${column} = 0`)
  .concat("models = '{}'", "providers = '{}'", "counted = '{}'")
  .join(', ')
