import { countTaskStates, findTasks, type TaskStateCounts } from './store.ts'
import type { TaskDeps } from './task-deps.ts'
import { type Task, taskFrom } from './task-record.ts'

/**
 * The first tasks of a conversation in the order they started, at most `limit`, and how many of all
 * its tasks stand where. Throws `store_unavailable`.
 */
export async function tasksOfConversation(
  { db, clock, settings }: Pick<TaskDeps, 'db' | 'clock' | 'settings'>,
  projectId: string,
  conversationId: string,
  limit: number,
): Promise<{ tasks: Task[]; states: TaskStateCounts }> {
  const now_ms = clock.now_ms()
  const filter = { conversation_id: conversationId }
  const idle_since = new Date(now_ms - settings.stalled_after_ms).toISOString()
  const [rows, states] = await Promise.all([
    findTasks(db, projectId, filter, {
      sort: 'started_at',
      order: 'asc',
      after: undefined,
      limit,
    }),
    countTaskStates(db, projectId, conversationId, idle_since),
  ])
  return { tasks: rows.map((row) => taskFrom(row, { now_ms, ...settings })), states }
}
