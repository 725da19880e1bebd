import { resolveOwners } from '../../records/ownership/index.ts'
import { findSameCalls } from '../../records/same-call/index.ts'
import type { ObservationHead } from '../../storage/row-format/index.ts'
import { withCallBits } from './note-bits.ts'
import type { TraceTouch } from './recent-traces.ts'

/** A trace of a batch. */
export type BatchTrace = TraceTouch & {
  /** Rows of the batch have ancestors in it that know more, or are the same call as others. */
  has_changes: boolean
}

/** Groups the rows of a batch by trace, in the order of their keys, so that all writers lock alike. */
export function batchTraces(heads: readonly ObservationHead[]): BatchTrace[] {
  const groups = new Map<string, ObservationHead[]>()
  for (const head of heads) {
    const key = `${head.project_id} ${head.trace_id}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [head])
    else group.push(head)
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, rows]) => toTrace(rows))
}

/**
 * Returns the task of the proxy's records among these rows, if it is not their trace and no header names
 * it. `isLinked`: the calls of the trace have their task from another call.
 */
export function joinedTask(rows: readonly ObservationHead[], isLinked = false): string | null {
  const joined = rows.find(
    ({ source, task_implicit, task_id, trace_id }) =>
      source === 'proxy' && (task_implicit || isLinked) && task_id !== trace_id,
  )
  return joined?.task_id ?? null
}

function toTrace(rows: readonly ObservationHead[]): BatchTrace[] {
  const [first] = rows
  if (first === undefined) return []
  let [first_start, last_start] = [first.start_time, first.start_time]
  for (const { start_time } of rows) {
    if (start_time < first_start) first_start = start_time
    if (start_time > last_start) last_start = start_time
  }
  const resolved = resolveOwners(rows)
  const has_changes = resolved.changes.length > 0 || findSameCalls(rows).size > 0
  const { project_id, trace_id } = first
  const times = { first_start, last_start }
  const bits = withCallBits(rows, resolved)
  return [
    { project_id, trace_id, ...times, ...bits, joined_task_id: joinedTask(rows), has_changes },
  ]
}
