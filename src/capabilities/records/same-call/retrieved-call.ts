import { hash } from 'node:crypto'
import { derivedId } from '../../../kernel/ids.ts'
import type { Observation } from '../../../model/observation.ts'

/**
 * Returns the ids of the record of a response that clients retrieve. Every exchange that retrieves one
 * has the same, so that the last state of the response is recorded once.
 */
export function retrievedCallIds(
  project_id: string,
  response_id: string,
): Pick<Observation, 'trace_id' | 'observation_id'> {
  return {
    trace_id: derivedId(project_id, `retrieved ${response_id}`),
    observation_id: observationIdFor(response_id),
  }
}

/** Returns whether a row is the record of a retrieved response, and not of the call that began it. */
export function isRetrieved({
  source,
  response_id,
  observation_id,
}: Pick<Observation, 'source' | 'response_id' | 'observation_id'>): boolean {
  return (
    source === 'proxy' && response_id !== '' && observation_id === observationIdFor(response_id)
  )
}

function observationIdFor(response_id: string): string {
  return hash('sha256', `retrieved ${response_id}`, 'hex').slice(0, 16)
}
