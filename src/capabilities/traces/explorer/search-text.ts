import { type RunDeps, readRecords } from '../../query/index.ts'
import type { TimeWindow } from '../../storage/index.ts'
import { isoWindowOf, ofTraces } from '../read-trace-rows.ts'

const plainFields = [
  'name',
  'error_type',
  'error_message',
  'model',
  'model_requested',
  'provider',
  'agent_name',
  'service_name',
]
const contentFields = ['input', 'output']

/** Observations that a search may find; of more than that the earliest. */
export const found_max = 10_000

/** Finds the observations of a trace that have a text, as it is written, in one of their fields. */
export async function searchText(
  queries: RunDeps,
  asked: {
    project_id: string
    trace_id: string
    window: TimeWindow
    text: string
    /** In what was said, too. */
    content: boolean
    signal: AbortSignal
  },
): Promise<ReadonlySet<string>> {
  const { project_id, trace_id, window, text, content, signal } = asked
  const named = content ? [...plainFields, ...contentFields] : plainFields
  const anyOf = { or: named.map((field) => ({ field, op: 'contains', value: text })) }
  const { rows, alias } = await readRecords(queries, {
    ...{ project_id, signal },
    rows_max: found_max,
    query_class: 'explorer',
    body: {
      entity: 'observations',
      window: isoWindowOf(window),
      where: { and: [ofTraces([trace_id]), anyOf] },
      select: ['observation_id'],
      order_by: [{ field: 'start_time', direction: 'asc' }],
    },
  })
  return new Set(rows.map((row) => String(row[alias['observation_id'] ?? ''])))
}
