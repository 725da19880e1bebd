import { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import {
  decodeCursor,
  encodeCursor,
  type PageInfo,
  pageInfo,
  totalExactMax,
} from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import type { Job, JobDb } from './contract.ts'
import { countJobs, endUnended, findJob, type JobFilter, selectJobs } from './store.ts'

/** What every run says of itself; `params`, `progress` and `result` are for its kind to describe. */
export const jobFields = {
  job_id: z.uuid().describe('Names the run.'),
  kind: z.string(),
  state: z.enum(['queued', 'running', 'succeeded', 'failed']).meta({ id: 'RunState' }),
  attempt: z.int().nonnegative().describe('Times that it was begun.'),
  error: z
    .string()
    .nullable()
    .describe('Why it failed; while it is tried again, why the last attempt did.'),
  requested_by: z
    .string()
    .describe('`user:<id>`, `key:<id>`, `service_account:<id>`, `schedule` or `job:<id>`.'),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
}

/** The fields that every run shows. */
export function shownJob(job: Job): z.infer<z.ZodObject<typeof jobFields>> {
  const { id: job_id, kind, state, attempt, error, requested_by } = job
  const { created_at, started_at, ended_at } = job
  return { job_id, kind, state, attempt, error, requested_by, created_at, started_at, ended_at }
}

/** Which run; `or_kind` is a second kind that it may be of. */
export type JobAsked = Pick<Job, 'project_id' | 'kind' | 'id'> & { or_kind?: string }

/** One run of a project. Throws `job_not_found`, `store_unavailable`. */
export async function readJob(db: JobDb, about: JobAsked): Promise<Job> {
  const job = isUuid(about.id) ? await findJob(db, about) : undefined
  if (job !== undefined) return job
  throw problem('job_not_found', {
    detail: `job_id: got "${about.id.slice(0, 80)}", which is no ${about.kind} run of this project`,
  })
}

/**
 * Ends a run that has not ended as `failed`, and answers it; one that has ended is answered as it is.
 * Throws `job_not_found`, `store_unavailable`.
 */
export async function cancelJob(db: JobDb, about: JobAsked, by: string): Promise<Job> {
  const cancelled = await endUnended(db, about, `Cancelled by ${by}.`)
  return cancelled ?? readJob(db, about)
}

/** A page of a project's runs of a kind, newest first. Throws `invalid_cursor`, `store_unavailable`. */
export async function listJobs(
  db: JobDb,
  { project_id, kind }: Pick<Job, 'project_id' | 'kind'>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<PageInfo & { jobs: Job[] }> {
  const list = `${kind} runs`
  const before = cursor === undefined ? {} : { before: positionIn(list, cursor) }
  const [rows, counted] = await Promise.all([
    selectJobs(db, { project_id, kind, ...before, limit: limit + 1 }),
    countJobs(db, { project_id, kind, limit: totalExactMax + 1 }),
  ])
  const jobs = rows.slice(0, limit)
  const last = rows.length > limit ? jobs.at(-1) : undefined
  return { jobs, ...pageInfo(counted, last === undefined ? null : encodeCursor(list, [last.id])) }
}

/** A project's runs of a kind in some states, newest first. Throws `store_unavailable`. */
export function findJobs(db: JobDb, filter: JobFilter): Promise<Job[]> {
  return selectJobs(db, filter)
}

function positionIn(list: string, cursor: string): string {
  const [id] = decodeCursor(list, cursor, 1)
  if (typeof id === 'string' && isUuid(id)) return id
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor of this list`,
  })
}
