import type {
  ByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonByDefault,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface OnboardingTables {
  onboarding_events: {
    project_id: string
    event_id: string
    name: string
    subject: string
    occurred_at: Instant
    client_at: InstantOrNull
    received_at: Instant
    clock: 'client' | 'corrected' | 'server'
    skew_ms: OrNull<number>
    metadata: JsonByDefault<Record<string, string | number | boolean>>
    masked: ByDefault<string[]>
    digest: Buffer
    posted_by: string
  }
  onboarding_scenarios: {
    id: string
    project_id: string
    state: 'running' | 'ended'
    step: string
    outcome: OrNull<'as_expected' | 'not_as_expected' | 'failed' | 'interrupted'>
    record: Json<JsonRecord>
    error: OrNull<string>
    requested_by: string
    started_at: Instant
    heartbeat_at: Instant
    ended_at: InstantOrNull
    removed_at: InstantOrNull
  }
  onboarding_steps: {
    project_id: string
    step: string
    reached_at: Instant
  }
}
