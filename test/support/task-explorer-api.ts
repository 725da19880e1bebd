import { openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { taskTreeRoutes } from '../../src/capabilities/tasks/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { isoFromNs } from '../../src/kernel/time.ts'
import { migratedClickHouse } from './clickhouse.ts'
import type { QueryApiOptions, QueryReply } from './query-api.ts'
import { keyOf } from './task-api.ts'
import { openTraceApi, type TraceApi } from './trace-api.ts'
import { traceStartNs } from './trace-rows.ts'

/** The explorers of traces and tasks on a listening server. */
export type TaskExplorerApi = TraceApi & {
  /** Stores a task that starts with the traces of tests; returns its id. */
  newTask(given?: { task_id?: string; project_id?: string; implicit?: boolean }): Promise<string>
  explore(task_id: string, query?: string, headers?: Record<string, string>): Promise<QueryReply>
}

export async function openTaskExplorerApi(
  options: Pick<QueryApiOptions, 'chooseStore'> & { rows_max?: number } = {},
): Promise<TaskExplorerApi> {
  const columnar = await migratedClickHouse()
  const api = await openTraceApi({
    ...options,
    columnar,
    routes: (queries, { db }) =>
      taskTreeRoutes({
        ...{ db, queries, store: openClickHouseStore({ columnar }) },
        clock: { now_ms: () => Number(traceStartNs / 1_000_000n) },
        ...(options.rows_max !== undefined && { rows_max: options.rows_max }),
      }),
  })
  const started_at = isoFromNs(traceStartNs)
  return Object.assign(api, {
    newTask: async (given = {}) => {
      const task_id = `task ${newId()}`
      await api.insertTask({ task_id, started_at, last_activity_at: started_at, ...given })
      return given.task_id ?? task_id
    },
    explore: async (task_id: string, query = '', headers = keyOf(api.project_id)) => {
      const url = `${api.url}/api/v1/tasks/${encodeURIComponent(task_id)}/explorer?${query}`
      const reply = await fetch(url, { headers })
      return { status: reply.status, body: await reply.json(), headers: reply.headers }
    },
  } satisfies Pick<TaskExplorerApi, 'newTask' | 'explore'>)
}
