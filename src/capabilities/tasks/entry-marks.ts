import { type MarksAt, toStepNumber } from '../detection/index.ts'
import { type Place, spanKey, type TaskRun } from '../detection/reconstruction/index.ts'
import type { MarkedEntry, TimelineEntry } from './timeline-entry.ts'
import { indexCalls } from './turns/mark-findings.ts'

/**
 * Adds steps and findings to entries of a timeline. The step of a tool's call or result is the one
 * that requested it. Steps are null where `run` is undefined: a part of a task numbers its own.
 */
export function markEntries(
  entries: readonly TimelineEntry[],
  run: TaskRun | undefined,
  marksAt: MarksAt,
): MarkedEntry[] {
  const calls = run && indexCalls(run)
  return entries.map((entry) => {
    if (entry.role === 'operation' || entry.role === 'state_change') return entry
    const asked = entry.role === 'tool_result' ? requestOf(entry) : entry
    const step = run?.calls[calls?.get(spanKey(asked)) ?? -1]?.step ?? null
    const place = entry.role === 'tool_result' && entry.execution_ms !== null ? entry : asked
    return { ...entry, step, step_number: toStepNumber(step), findings: marksAt(place).findings }
  })
}

function requestOf(entry: Extract<TimelineEntry, { role: 'tool_result' }>): Place {
  const { call_trace_id, call_observation_id } = entry
  if (call_trace_id === null || call_observation_id === null) return entry
  return { trace_id: call_trace_id, observation_id: call_observation_id }
}
