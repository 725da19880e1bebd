import { identities_max } from '../contract.ts'
import type {
  EventCount,
  EventCountsAsked,
  GenAiEvent,
  GenAiEventsAsked,
} from '../trace-contract.ts'
import { latestFirst } from './conditions.ts'
import type { Read } from './store-failure.ts'

/** Reads events with content of observations; see the port. */
export async function genAiEvents(
  read: Read,
  projectId: string,
  { places, limit, bytes_max }: GenAiEventsAsked,
): Promise<GenAiEvent[]> {
  if (places.length === 0) return []
  return read<GenAiEvent>(projectId, eventsSql, { ...paramsOf(places), limit, bytes_max })
}

/** Counts events of observations; see the port. */
export async function eventCounts(
  read: Read,
  projectId: string,
  { places, names }: EventCountsAsked,
): Promise<EventCount[]> {
  if (places.length === 0) return []
  const params = { ...paramsOf(places), names: [...names] }
  const rows = await read<EventCount>(projectId, countsSql, params)
  return rows.map((row) => ({ ...row, events: Number(row.events) }))
}

function paramsOf(places: GenAiEventsAsked['places']) {
  if (places.length > identities_max) {
    throw new RangeError(`got ${places.length} observations, expected at most ${identities_max}`)
  }
  return {
    traces: [...new Set(places.map(({ trace_id }) => trace_id))],
    ids: [...new Set(places.map(({ observation_id }) => observation_id))],
  }
}

const countsSql = `
SELECT trace_id, observation_id, uniqExact(time, event_id) AS events
FROM events
WHERE project_id = {project:UUID} AND trace_id IN {traces:Array(UUID)}
  AND observation_id IN {ids:Array(String)} AND name IN {names:Array(String)} AND body != ''
GROUP BY trace_id, observation_id`

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
