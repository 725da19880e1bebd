import { findingsOfTasks } from '../../src/capabilities/detection/index.ts'
import { openClickHouseRecordStore } from '../../src/capabilities/storage/index.ts'
import { traceRoutes } from '../../src/capabilities/traces/index.ts'
import type { TraceRow } from '../../src/capabilities/traces/tree/contract.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Observation } from '../../src/model/observation.ts'
import { migratedClickHouse } from './clickhouse.ts'
import { observationOf } from './observations.ts'
import { openQueryApi, type QueryApi, type QueryApiOptions, type QueryReply } from './query-api.ts'
import { keyOf } from './task-api.ts'
import { rowOf } from './trace-rows.ts'

/** The routes of traces on a listening server, over both stores. */
export type TraceApi = QueryApi & {
  /** Stores a trace; returns its id. */
  store(rows: readonly GivenRow[], trace_id?: string): Promise<string>
  get(path: string, headers?: Record<string, string>): Promise<QueryReply>
}
/** A row with further fields of an observation. */
export type GivenRow = Parameters<typeof rowOf>[0] & Partial<Observation>

export async function openTraceApi(
  options: QueryApiOptions & { rows_max?: number } = {},
): Promise<TraceApi> {
  const columnar = options.columnar ?? (await migratedClickHouse())
  const records = openClickHouseRecordStore({ columnar })
  const api = await openQueryApi({
    ...options,
    columnar,
    routes: (queries, relational) => [
      ...traceRoutes({
        ...{ records, queries, findings: (of) => findingsOfTasks(relational.db, of) },
        ...(options.rows_max !== undefined && { rows_max: options.rows_max }),
      }),
      ...(options.routes?.(queries, relational) ?? []),
    ],
  })
  const { project_id } = api
  return Object.assign(api, {
    store: async (rows: readonly GivenRow[], trace_id = newId()) => {
      await api.insert(observationsOf(rows, { project_id, trace_id }))
      return trace_id
    },
    get: (path: string, headers?: Record<string, string>) =>
      api.call(path, undefined, {
        method: 'GET',
        headers: headers ?? keyOf(project_id, 'traces:read'),
      }),
  })
}

/** Rows as observations of a project and trace. */
export function observationsOf(
  rows: readonly GivenRow[],
  of: { project_id: string; trace_id: string },
): Observation[] {
  return rows.map(({ id, at, took, parent, ...given }) => {
    const row: TraceRow = rowOf({ id, at, took, ...(parent !== undefined && { parent }) })
    return observationOf({ ...row, ...given, ...of, ...idOf(given) })
  })
}

function idOf({ trace_id }: Partial<Observation>) {
  return trace_id === undefined ? {} : { trace_id }
}
