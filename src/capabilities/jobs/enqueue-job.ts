import { newId } from '../../kernel/ids.ts'
import { problem } from '../../kernel/problem.ts'
import type { Caller } from '../../platform/http/index.ts'
import type { Job, JobDb, JobRequest } from './contract.ts'
import { findByKeys, insertJob } from './store.ts'

/**
 * Has a worker do something, soon. With a `once_key` that is known the first job comes back as it
 * stands. Throws `job_running` (which names the other one) when a job of the project with the same
 * `exclusive_key` is queued or runs, and `store_unavailable`.
 */
export async function enqueueJob(db: JobDb, request: JobRequest): Promise<Job> {
  // The other job may end between the two looks.
  for (let look = 0; look < looks_max; look += 1) {
    const made = await insertJob(db, newId(), request)
    if (made !== undefined) return made
    const other = await findByKeys(db, request)
    if (other === undefined) continue
    if (request.once_key !== undefined && other.once_key === request.once_key) return other
    throw problem('job_running', {
      detail: `The ${other.kind} run ${other.id} is ${other.state}; wait for its end.`,
    })
  }
  throw problem('job_running', { detail: `A ${request.kind} run is under way; try again.` })
}

/** How `requested_by` names who called. */
export function requesterOf({ kind, id }: Pick<Caller, 'kind' | 'id'>): string {
  return `${kind}:${id}`
}

const looks_max = 3
