import { call } from '../../../api/client.ts'
import { type Pages, usePages } from '../../../api/pages.ts'
import type { Task, TaskList } from '../../../api/schema.gen.d.ts'
import { serverNow } from '../../../api/server-clock.ts'
import { type NewRows, useNewRows } from '../../../app/new-rows.ts'
import type { Search } from '../../../app/search.ts'
import { rangeOf } from '../../../app/time-range.ts'
import type { Sorting } from '../../../ui/table.tsx'
import { parseTaskFilter } from './task-filter.ts'

const page_max = 50

/** Returns the sorting of a URL. */
export function sortingOf({ sort = 'last_activity_at', order = 'desc' }: Search): Sorting {
  return { by: sort, order: order === 'asc' ? 'asc' : 'desc' }
}

/**
 * Reads the tasks of a URL: range, filter, sorting. The key has the range as it is written, so that
 * the list does not start again as time goes on; new tasks wait.
 */
export function useTaskList(
  project_id: string,
  search: Search,
): { tasks: Pages<Task>; fresh: NewRows } {
  const { from, to, q = '' } = search
  const sorting = sortingOf(search)
  const key = ['tasks', project_id, { from, to, q, ...sorting }]
  const read = (cursor?: string, signal?: AbortSignal) => {
    const query = {
      ...rangeOf(search, serverNow()),
      ...parseTaskFilter(q).query,
      ...{ sort: sorting.by as 'last_activity_at', order: sorting.order, limit: page_max },
    }
    const rest = signal === undefined ? {} : { signal }
    return call.GET('/api/v1/tasks', { params: { query: { ...query, cursor } }, ...rest })
  }
  const tasks = usePages(key, read, tasksIn, { isStill: true })
  const fresh = useNewRows<TaskList, Task>({
    ...{ topic: 'tasks', key, rowsOf: tasksIn },
    readFirst: async () => (await read()).data,
    withRows: (each, rows) => ({ ...each, tasks: rows }),
    keyOf: ({ task_id }) => task_id,
  })
  return { tasks, fresh }
}

const tasksIn = (each: TaskList): Task[] => each.tasks
