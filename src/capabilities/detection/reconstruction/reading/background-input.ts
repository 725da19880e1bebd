import type { Observation } from '../../../../model/observation.ts'
import type { KnownRows } from '../contract.ts'

/** Gives retrieved responses the requests of the calls that began them. */
export type BackgroundInputs = {
  /**
   * Returns the function that completes the rows that are added now. `rebuild`: the request of a row that
   * was added before comes only now, or came before and is not beside.
   */
  join(
    rows: readonly Observation[],
    known: KnownRows,
  ): ((row: Observation) => Observation) | 'rebuild'
}

/**
 * Joins the records of background calls: one exchange of such a call has the input, another one the
 * output.
 */
export function createBackgroundInputs(): BackgroundInputs {
  /** Responses of the added records that another one counts, by the id of that record. */
  const begun = new Map<string, string>()
  /** Responses of the added records that have no request, by the id of the record. */
  const alone = new Map<string, string>()
  return {
    join(rows, { beside = [], is_whole = false }) {
      const byRetrieved = new Map<string, Observation>()
      for (const row of [...beside, ...rows].filter(isBegun)) byRetrieved.set(row.counted_with, row)
      const isLate = rows.some((row) =>
        isBegun(row)
          ? alone.get(row.counted_with) === row.response_id
          : isSame(begun.get(row.observation_id), row) && !byRetrieved.has(row.observation_id),
      )
      if (isLate && !is_whole) return 'rebuild'
      for (const row of rows) {
        const { observation_id, response_id } = row
        if (isBegun(row)) begun.set(row.counted_with, response_id)
        else if (isAlone(row) && !byRetrieved.has(observation_id)) {
          alone.set(observation_id, response_id)
        }
      }
      return (row) => withInput(row, byRetrieved.get(row.observation_id))
    },
  }
}

function isBegun({ source, counted_with }: Observation): boolean {
  return source === 'proxy' && counted_with !== ''
}

function isAlone({ source, response_id, input }: Observation): boolean {
  return source === 'proxy' && response_id !== '' && input === ''
}

/** Tells whether a record retrieved a response: of two records of the proxy, only that counts the other. */
function isSame(response_id: string | undefined, row: Observation): boolean {
  return response_id === row.response_id && row.source === 'proxy'
}

function withInput(row: Observation, from: Observation | undefined): Observation {
  if (from === undefined || !isSame(from.response_id, row)) return row
  const { input, tool_results } = from
  return { ...row, input, tool_results, attributes: { ...from.attributes, ...row.attributes } }
}
