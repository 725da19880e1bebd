import { call } from '../../../api/client.ts'
import { type Pages, usePages } from '../../../api/pages.ts'
import type { TaskTurnList, TurnThread } from '../../../api/schema.gen.d.ts'

const page_max = 100

/** Reads the turns of a task page by page. */
export function useTurnPages(task_id: string): Pages<TaskTurnList> {
  return usePages(
    ['turns', task_id],
    (cursor, signal) =>
      call.GET('/api/v1/tasks/{task_id}/turns', {
        params: { path: { task_id }, query: { limit: page_max, cursor } },
        signal,
      }),
    (each: TaskTurnList) => [each],
  )
}

/** Returns the threads of all pages; a later page knows more of them. */
export function mergeThreads(replies: readonly TaskTurnList[]): TurnThread[] {
  const byId = new Map(replies.flatMap(({ threads }) => threads.map((one) => [one.thread, one])))
  return [...byId.values()].toSorted((a, b) => a.thread - b.thread)
}
