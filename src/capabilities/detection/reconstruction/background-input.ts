import type { Observation } from '../../../model/observation.ts'

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
    // Of two records of the proxy, only one of a retrieved response counts the other.
    if (from?.response_id !== row.response_id || row.source !== 'proxy') return row
    const { input, tool_results } = from
    return { ...row, input, tool_results, attributes: { ...from.attributes, ...row.attributes } }
  }
}
