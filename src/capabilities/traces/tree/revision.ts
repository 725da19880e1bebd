import { hash } from 'node:crypto'
import { type TraceTree, tokenBuckets } from './contract.ts'

/** What a tree's rows are known by: another one when any was added or changed. 22 characters. */
export function revisionOf({ nodes }: TraceTree): string {
  let text = ''
  let trace = ''
  for (const { row } of nodes) {
    if (row === null) continue
    const tokens = tokenBuckets.map((bucket) => row[bucket]).join()
    // Rows of one trace mostly follow each other.
    const ids = `${row.trace_id === trace ? '' : row.trace_id} ${row.observation_id} ${row.parent_observation_id}`
    trace = row.trace_id
    const times = `${row.start_time} ${row.end_time} ${row.status}`
    text += `${ids} ${times} ${tokens} ${row.cost_usd} ${row.type} ${row.name}\n`
  }
  return hash('sha256', text, 'base64url').slice(0, 22)
}
