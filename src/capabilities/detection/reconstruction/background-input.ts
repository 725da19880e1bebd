import type { Observation } from '../../../model/observation.ts'
import { isRetrieved } from '../../records/same-call/index.ts'

/**
 * Makes the function that gives a retrieved response the request of the call that began it: one
 * exchange of a background call has the input, another one the output. `rows`: those of the task.
 */
export function createBackgroundInput(
  rows: readonly Observation[],
): (row: Observation) => Observation {
  const begun = new Map<string, Observation>()
  for (const row of rows) {
    if (row.source === 'proxy' && row.counted_with !== '') begun.set(row.counted_with, row)
  }
  return (row) => {
    const from = begun.get(row.observation_id)
    if (from === undefined || from.response_id !== row.response_id || !isRetrieved(row)) return row
    const { input, tool_results } = from
    return { ...row, input, tool_results, attributes: { ...from.attributes, ...row.attributes } }
  }
}
