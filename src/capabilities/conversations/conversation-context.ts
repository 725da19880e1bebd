import { analyseTask, type Finding } from '../detection/index.ts'
import { type Task, type TaskDeps, tasksOfConversation } from '../tasks/index.ts'

/** One task of a conversation with what was found of its context, in the order in which it began. */
export type TaskContext = { task: Task; findings: Finding[] }

export type ConversationContext = {
  tasks: TaskContext[]
  /** Tasks beyond `checkedTasks_max`, which were not looked at. */
  tasks_not_checked: number
}

/** Tasks of a conversation that one request looks at: its first ones. */
export const checkedTasks_max = 200

/**
 * Looks for lost context in each task of a conversation, in the order in which they began, because
 * a task is judged by what was said in those before it. A task that has not changed since it was
 * last looked at costs one read. Rejects with `store_unavailable` and `overloaded`.
 */
export async function contextOfConversation(
  deps: TaskDeps,
  about: { project_id: string; conversation_id: string },
  signal: AbortSignal,
): Promise<ConversationContext> {
  const { project_id, conversation_id } = about
  const found = await tasksOfConversation(deps, project_id, conversation_id, checkedTasks_max)
  const tasks: TaskContext[] = []
  for (const task of found.tasks) {
    signal.throwIfAborted()
    const { findings } = await analyseTask(deps, { project_id, task_id: task.task_id }, { signal })
    tasks.push({ task, findings: findings.filter(({ kind }) => kind === 'context') })
  }
  const { running, completed, failed } = found.states
  const total = running + completed + failed
  return { tasks, tasks_not_checked: Math.max(0, total - tasks.length) }
}
