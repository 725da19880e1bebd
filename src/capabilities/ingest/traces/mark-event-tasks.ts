import type { Kysely, TaskTables } from '../../../platform/relational/index.ts'
import { runInProjects } from '../../../platform/tenancy/index.ts'
import { readEventTrace } from '../../storage/row-format/index.ts'
import type { RowUnit } from '../row-batch.ts'

type TaskId = { project_id: string; task_id: string }

/** Marks those of these tasks that have been analysed before as due for detection. */
export type MarkKnownDue = (db: Kysely<TaskTables>, tasks: readonly TaskId[]) => Promise<void>

/** Tasks that one statement marks. */
const tasks_max = 1_000

/**
 * Marks the tasks of events that came without their spans, because the events can have the content
 * of calls that were analysed without it. A task is found by its trace; one with an id of its own
 * is analysed again with its next span.
 */
export async function markEventTasks(
  { db, markKnownDue }: { db: Kysely<TaskTables>; markKnownDue?: MarkKnownDue | undefined },
  units: readonly RowUnit[],
): Promise<void> {
  const tasks = markKnownDue === undefined ? [] : listTasks(units)
  if (markKnownDue === undefined || tasks.length === 0) return
  const projects = new Set(tasks.map(({ project_id }) => project_id))
  await runInProjects(projects, async () => {
    for (let at = 0; at < tasks.length; at += tasks_max) {
      await markKnownDue(db, tasks.slice(at, at + tasks_max))
    }
  })
}

/** Lists the tasks of events whose traces have no observation among the units. */
function listTasks(units: readonly RowUnit[]): TaskId[] {
  const tasks = new Map<string, TaskId>()
  for (const { message, from, to } of units) {
    const { kinds, starts, bytes } = message.rows
    for (let row = from; row < to; row++) {
      if (kinds[row] !== 'events') continue
      const { project_id, trace_id } = readEventTrace(bytes, starts[row] ?? 0)
      tasks.set(`${project_id} ${trace_id}`, { project_id, task_id: trace_id })
    }
  }
  if (tasks.size > 0) for (const key of listTraces(units)) tasks.delete(key)
  return [...tasks.values()]
}

/** Lists the traces of observations: their tasks are marked with their roll-ups. */
function* listTraces(units: readonly RowUnit[]): Generator<string> {
  for (const { message, from, to } of units) {
    for (const head of message.rows.heads.slice(from, to)) {
      if (head !== undefined) yield `${head.project_id} ${head.trace_id}`
    }
  }
}
