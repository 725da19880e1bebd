import { type RunDeps, readRecords } from '../query/index.ts'
import { filterFrom, isoWindowOf, onStore, type TraceRowsResult } from './read-trace-rows.ts'
import type { TraceRow } from './tree/contract.ts'
import { observationKey } from './tree/observation-key.ts'

/** Maximum parents that are looked up; further ones count as missing. */
const parents_max = 10_000
/** Parents of one statement; their ids fit its filter. */
const step = 500
const rows_max = 10_000

/**
 * Finds the parents of rows that are stored but not among the rows: they belong to another task or
 * start outside of the window. Returns their keys by `observationKey`. Reads from the store
 * that returned the rows. Rejects like `readTraceRows`.
 */
export async function findOuterParents(
  queries: RunDeps,
  { rows, served_by }: TraceRowsResult,
  { project_id, signal }: { project_id: string; signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const missing = listMissingParents(rows)
  for (let at = 0; at < Math.min(missing.length, parents_max); at += step) {
    const part = missing.slice(at, Math.min(at + step, parents_max))
    const trace_ids = [...new Set(part.map(({ trace_id }) => trace_id))]
    const ids = [...new Set(part.map(({ observation_id }) => observation_id))]
    const read = await readRecords(onStore(queries, served_by), {
      ...{ project_id, signal, rows_max },
      query_class: 'explorer',
      body: {
        entity: 'observations',
        window: isoWindowOf({}),
        where: {
          and: [filterFrom({ trace_ids }), { field: 'observation_id', op: 'in', value: ids }],
        },
        select: ['trace_id', 'observation_id'],
        order_by: [{ field: 'start_time', direction: 'asc' }],
      },
    })
    for (const row of read.rows) {
      const value = (name: string) => String(row[read.alias[name] ?? ''])
      const [trace_id, observation_id] = [value('trace_id'), value('observation_id')]
      found.add(observationKey({ trace_id, observation_id }))
    }
  }
  return found
}

type Parent = Pick<TraceRow, 'trace_id' | 'observation_id'>

/** Lists the parents that rows name and that are not among them, each once. */
function listMissingParents(rows: readonly TraceRow[]): Parent[] {
  const ids = new Set(rows.map(({ observation_id }) => observation_id))
  const missing = new Map<string, Parent>()
  for (const { trace_id, parent_observation_id: observation_id } of rows) {
    if (observation_id === '' || ids.has(observation_id)) continue
    const parent = { trace_id, observation_id }
    missing.set(observationKey(parent), parent)
  }
  return [...missing.values()]
}
