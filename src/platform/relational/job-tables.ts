import type {
  ByDefault,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/** The table of migration `0007_job_runs`, for `Kysely<JobTables>`. */
export interface JobTables {
  job_runs: JobRunsTable
}

/** One job: what was asked, how far it is, what it came to. */
interface JobRunsTable {
  id: string
  project_id: string
  kind: string
  state: ByDefault<'queued' | 'running' | 'succeeded' | 'failed'>
  params: Json<Record<string, unknown>>
  /** What the handler noted last; who takes the job over goes on from here. */
  progress: JsonOrNull<Record<string, unknown>>
  result: JsonOrNull<Record<string, unknown>>
  error: OrNull<string>
  /** Times that it was begun. */
  attempt: ByDefault<number>
  exclusive_key: OrNull<string>
  once_key: OrNull<string>
  /** It is not begun before. */
  due_at: InstantByDefault
  /** Names the holding, not the process: whoever claims again has another one. */
  lease_owner: OrNull<string>
  lease_until: InstantOrNull
  requested_by: string
  created_at: InstantByDefault
  started_at: InstantOrNull
  ended_at: InstantOrNull
}
