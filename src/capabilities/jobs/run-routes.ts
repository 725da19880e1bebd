import { z } from 'zod'
import { pageFields } from '../../model/id-pages.ts'
import { cursorParameter, limitParameter } from '../../model/list-query.ts'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import type { Job, JobDb } from './contract.ts'
import { listJobs, readJob } from './job-runs.ts'

/** The runs of one kind of job, as viewers of a project read them. */
export type JobRuns<Reply extends z.ZodType> = {
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
