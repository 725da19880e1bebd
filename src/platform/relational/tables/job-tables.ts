import type {
  ByDefault,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonOrNull,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface JobTables {
  job_runs: {
    id: string
    project_id: string
    kind: string
    state: ByDefault<'queued' | 'running' | 'succeeded' | 'failed'>
    params: Json<JsonRecord>
    progress: JsonOrNull<JsonRecord>
    result: JsonOrNull<JsonRecord>
    error: OrNull<string>
    attempt: ByDefault<number>
    exclusive_key: OrNull<string>
    once_key: OrNull<string>
    due_at: InstantByDefault
    lease_owner: OrNull<string>
    lease_until: InstantOrNull
    requested_by: string
    created_at: InstantByDefault
    started_at: InstantOrNull
    ended_at: InstantOrNull
  }
}
