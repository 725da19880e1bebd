import type {
  ByDefault,
  Computed,
  Instant,
  InstantOrNull,
  Json,
  JsonByDefault,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface FeedbackTables {
  feedback: {
    project_id: string
    task_id: string
    feedback_id: string
    source: 'end_user' | 'annotator' | 'rule'
    subject: string
    user_id: OrNull<string>
    trace_id: OrNull<string>
    state: 'pending' | 'attached' | 'withdrawn'
    rating: OrNull<number>
    thumbs: OrNull<'up' | 'down'>
    labels: ByDefault<string[]>
    comment: OrNull<string>
    correction: OrNull<string>
    metadata: JsonByDefault<Record<string, string>>
    sentiment: OrNull<'negative' | 'neutral' | 'positive'>
    counts: ByDefault<boolean>
    at: Instant
    time_adjusted: ByDefault<boolean>
    version: number
    by_browser: boolean
    network_tag: OrNull<number>
    created_at: Instant
    created_by: string
    updated_at: Instant
    updated_by: string
    body_digest: Buffer
  }
  feedback_drops: {
    project_id: string
    hour: Instant
    reason: 'task_not_seen' | 'pending_limit' | 'task_limit'
    items: number
  }
  feedback_hours: {
    project_id: string
    source: 'end_user' | 'annotator' | 'rule'
    dimension: 'all' | 'task_name' | 'release' | 'model' | 'label'
    hour: Instant
    environment: string
    value: string
    negative: ByDefault<number>
    neutral: ByDefault<number>
    positive: ByDefault<number>
  }
  feedback_revisions: {
    project_id: string
    task_id: string
    feedback_id: string
    version: number
    action: 'created' | 'edited' | 'withdrawn'
    at: Instant
    actor: string
    value: Json<JsonRecord>
  }
  feedback_tasks: {
    project_id: string
    task_id: string
    task_ref: OrNull<string>
    attached: Computed<boolean>
    items: ByDefault<number>
    negative: ByDefault<number>
    neutral: ByDefault<number>
    positive: ByDefault<number>
    task_name: OrNull<string>
    environment: OrNull<string>
    release: OrNull<string>
    models: ByDefault<string[]>
    cluster: OrNull<string>
    task_started_at: InstantOrNull
    first_at: Instant
    last_at: Instant
    created_at: Instant
    look_at: InstantOrNull
    expires_at: InstantOrNull
  }
}
