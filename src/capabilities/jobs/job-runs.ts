import { z } from 'zod'
import { isUuid, newId } from '../../kernel/ids.ts'
import type { PageInfo } from '../../kernel/pages.ts'
import { problem } from '../../kernel/problem.ts'
import { idPage, idPageAfter, pageFields } from '../../model/id-pages.ts'
import { cursorParameter, limitParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { Job, JobDb, JobRequest } from './contract.ts'
import {
  countJobs,
  endUnended,
  findByKeys,
  findJob,
  insertJob,
  type JobFilter,
  selectJobs,
} from './store.ts'

/**
 * Queues a job for a worker. With a known `once_key` it returns the first job in its current state.
 * Throws `job_running`, which names the other job, when a job of the project with the same
 * `exclusive_key` is queued or running, and `store_unavailable`.
 */
export async function enqueueJob(db: JobDb, request: JobRequest): Promise<Job> {
  // The other job may end between the insert and the search.
  for (let attempt = 0; attempt < attempts_max; attempt += 1) {
    const made = await insertJob(db, newId(), request)
    if (made !== undefined) return made
    const other = await findByKeys(db, request)
    if (other === undefined) continue
    if (request.once_key !== undefined && other.once_key === request.once_key) return other
    throw problem('job_running', {
      detail: `The ${other.kind} run ${other.id} is ${other.state}; wait for it to end.`,
    })
  }
  throw problem('job_running', { detail: `A ${request.kind} run is under way; try again later.` })
}

const attempts_max = 3

/** Fields of every run in replies. Each kind describes its `params`, `progress` and `result`. */
export const jobFields = {
  job_id: z.uuid().describe('Id of the run.'),
  kind: z.string(),
  state: z.enum(['queued', 'running', 'succeeded', 'failed']).meta({ id: 'RunState' }),
  attempt: z.int().nonnegative().describe('Number of attempts, the current one included.'),
  error: z
    .string()
    .nullable()
    .describe('Why the run failed; before a retry, why the last attempt failed.'),
  requested_by: z
    .string()
    .describe('`user:<id>`, `key:<id>`, `service_account:<id>`, `schedule` or `job:<id>`.'),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
}

/** Shapes the fields of a run for a reply. */
export function shownJob(job: Job): z.infer<z.ZodObject<typeof jobFields>> {
  const { id: job_id, kind, state, attempt, error, requested_by } = job
  const { created_at, started_at, ended_at } = job
  return { job_id, kind, state, attempt, error, requested_by, created_at, started_at, ended_at }
}

/** Names a run; `or_kind` is a second kind that it may have. */
type JobName = Pick<Job, 'project_id' | 'kind' | 'id'> & { or_kind?: string }

/** Returns one run of a project. Throws `job_not_found`, `store_unavailable`. */
export async function readJob(db: JobDb, name: JobName): Promise<Job> {
  const job = isUuid(name.id) ? await findJob(db, name) : undefined
  if (job !== undefined) return job
  throw problem('job_not_found', {
    detail: `job_id: got "${name.id.slice(0, 80)}", which is no ${name.kind} run of this project`,
  })
}

/**
 * Ends a queued or running run as `failed` and returns it; returns a run that has ended unchanged.
 * Throws `job_not_found`, `store_unavailable`.
 */
export async function cancelJob(db: JobDb, name: JobName, by: string): Promise<Job> {
  const cancelled = await endUnended(db, name, `Cancelled by ${by}.`)
  return cancelled ?? readJob(db, name)
}

/**
 * Returns a page of a project's runs of a kind, newest first. Throws `invalid_cursor`,
 * `store_unavailable`.
 */
export async function listJobs(
  db: JobDb,
  { project_id, kind }: Pick<Job, 'project_id' | 'kind'>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<PageInfo & { jobs: Job[] }> {
  const list = `${kind} runs`
  const { count_max, ...bounds } = idPageAfter(list, { limit, cursor })
  const [rows, counted] = await Promise.all([
    selectJobs(db, { project_id, kind, ...bounds }),
    countJobs(db, { project_id, kind, limit: count_max }),
  ])
  const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
  return { jobs: page.items, ...page.info }
}

/** Returns a project's runs of a kind in some states, newest first. Throws `store_unavailable`. */
export function findJobs(db: JobDb, filter: JobFilter): Promise<Job[]> {
  return selectJobs(db, filter)
}

/** The runs of one kind of job, as viewers of a project read them. */
type JobRuns<Reply extends z.ZodType> = {
  kind: Job['kind']
  url: string
  /** URL of one run, which ends with `{job_id}`. */
  item_url: string
  /** `reply`: name of the reply with a page of runs. */
  list: { id: string; summary: string; reply: string }
  get: { id: string; summary: string }
  run: Reply
  toRun: (job: Job) => z.input<Reply>
}

/** Returns the routes that list the runs of a job, newest first, and read one. */
export function jobRunRoutes<Reply extends z.ZodType>(
  db: JobDb,
  { kind, url, item_url, list, get, run, toRun }: JobRuns<Reply>,
): Route[] {
  const scope = { level: 'project', role: 'viewer', key: null } as const
  const listed = defineRoute({
    method: 'GET',
    url,
    id: list.id,
    summary: list.summary,
    auth: 'jwt',
    scope,
    query: z.strictObject({ limit: limitParameter, cursor: cursorParameter }),
    reply: record(list.reply, { runs: z.array(run), ...pageFields }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const { jobs, ...page } = await listJobs(db, { project_id, kind }, query)
      return { runs: jobs.map(toRun), ...page }
    },
  })
  const read = defineRoute({
    method: 'GET',
    url: item_url,
    ...get,
    auth: 'jwt',
    scope,
    params: z.strictObject({ job_id: z.string().describe('The `job_id` of the list.') }),
    reply: run,
    errors: ['job_not_found', 'store_unavailable'],
    handle: async ({ params: { job_id: id }, caller: { project_id } }) =>
      toRun(await readJob(db, { project_id, kind, id })),
  })
  return [listed, read]
}
