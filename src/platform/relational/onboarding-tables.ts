import type { ByDefault, Instant, InstantOrNull, Json, OrNull } from './column-types.ts'

/** The tables of migration `0033_onboarding`, for `Kysely<OnboardingTables>`. */
export interface OnboardingTables {
  onboarding_events: OnboardingEventsTable
  onboarding_steps: OnboardingStepsTable
  onboarding_scenarios: OnboardingScenariosTable
}

/** An event that a client posted. */
interface OnboardingEventsTable {
  project_id: string
  /** Chosen by the client. */
  event_id: string
  name: string
  /** `installation:<id>`, or who posted it, such as `user:<id>`. */
  subject: string
  /** Time of the client, corrected as `clock` says. */
  occurred_at: Instant
  /** Time of the client, as it was sent. */
  client_at: InstantOrNull
  received_at: Instant
  clock: 'client' | 'corrected' | 'server'
  /** Clock of the server minus clock of the client, in milliseconds; null when it is unknown. */
  skew_ms: OrNull<number>
  metadata: Json<Record<string, string | number | boolean>>
  /** Keys of `metadata` whose values were masked. */
  masked: ByDefault<string[]>
  /** SHA-256 of what the client sent, 32 bytes. */
  digest: Buffer
  posted_by: string
}

/** The first time of a step in the stored data of a project. */
interface OnboardingStepsTable {
  project_id: string
  step: string
  reached_at: Instant
}

/** A run of the seeded scenario. */
interface OnboardingScenariosTable {
  id: string
  project_id: string
  state: 'running' | 'ended'
  /** The step in progress, or the last one. */
  step: string
  outcome: OrNull<'as_expected' | 'not_as_expected' | 'failed' | 'interrupted'>
  record: Json<Record<string, unknown>>
  error: OrNull<string>
  requested_by: string
  started_at: Instant
  heartbeat_at: Instant
  ended_at: InstantOrNull
  removed_at: InstantOrNull
}
