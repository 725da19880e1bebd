import { identities_max } from '../contract.ts'
import type { GenAiEvent, GenAiEventsAsked } from '../trace-contract.ts'
import { latestFirst } from './conditions.ts'
import type { Read } from './store-failure.ts'

/** Reads events with content of observations; see the port. */
export async function genAiEvents(
  read: Read,
  projectId: string,
  { places, limit, bytes_max }: GenAiEventsAsked,
): Promise<GenAiEvent[]> {
  if (places.length === 0) return []
  if (places.length > identities_max) {
    throw new RangeError(`got ${places.length} observations, expected at most ${identities_max}`)
  }
  return read<GenAiEvent>(projectId, eventsSql, {
    traces: [...new Set(places.map(({ trace_id }) => trace_id))],
    ids: [...new Set(places.map(({ observation_id }) => observation_id))],
    limit,
    bytes_max,
  })
}

const identity = 'trace_id, observation_id, time, event_id'

/** Cuts the list where the texts exceed `bytes_max`, so that a few huge ones cannot fill the memory. */
const eventsSql = `
SELECT trace_id, observation_id, name, body
FROM (
  SELECT ${identity}, name, body,
    sum(byteSize(body)) OVER (ORDER BY ${identity} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS bytes
  FROM (
    SELECT ${identity}, name, body FROM events
    WHERE project_id = {project:UUID} AND trace_id IN {traces:Array(UUID)}
      AND observation_id IN {ids:Array(String)} AND startsWith(name, 'gen_ai.') AND body != ''
    ORDER BY ${identity}, ${latestFirst}
    LIMIT 1 BY ${identity}
    LIMIT {limit:UInt32}
  )
)
WHERE bytes <= {bytes_max:UInt64}
ORDER BY ${identity}`
