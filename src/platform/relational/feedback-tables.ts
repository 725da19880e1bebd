import type { ColumnType } from 'kysely'
import type {
  ByDefault,
  CountByDefault,
  Instant,
  InstantOrNull,
  Json,
  OrNull,
} from './column-types.ts'

/** The tables of feedback, for `Kysely<FeedbackTables>`. */
export interface FeedbackTables {
  feedback_tasks: FeedbackTasksTable
  feedback: FeedbackTable
  feedback_revisions: FeedbackRevisionsTable
  feedback_hours: FeedbackHoursTable
  feedback_drops: FeedbackDropsTable
}

type Source = 'end_user' | 'annotator' | 'rule'

/** A task that has feedback. Its row is locked by each change of its items. */
interface FeedbackTasksTable {
  project_id: string
  task_id: string
  /** Id of the task; null while the task was not seen and its items wait. */
  task_ref: OrNull<string>
  /** Whether `task_ref` is set. The database computes it. */
  attached: ColumnType<boolean, never, never>
  /** Items of all states, 1–1,000. */
  items: CountByDefault
  /** Votes of end users that count, by sentiment. */
  negative: CountByDefault
  neutral: CountByDefault
  positive: CountByDefault
  /** Copied from the task when it was attached, as are the columns up to `task_started_at`. */
  task_name: OrNull<string>
  environment: OrNull<string>
  release: OrNull<string>
  models: ByDefault<string[]>
  /** Group of correlated votes: `user:<id>`, `conversation:<id>` or `task:<id>`. */
  cluster: OrNull<string>
  task_started_at: InstantOrNull
  /** Times of the first and the last vote or comment. */
  first_at: Instant
  last_at: Instant
  created_at: Instant
  /** Time of the next look-up of the task; null once it is attached. */
  look_at: InstantOrNull
  /** When waiting items are dropped; null once the task is attached. */
  expires_at: InstantOrNull
}

/** An item of feedback. */
interface FeedbackTable {
  project_id: string
  task_id: string
  feedback_id: string
  source: Source
  /** Author of the opinion: `user:<id>`, `by:<actor>`, or empty for an anonymous end user. */
  subject: string
  /** The end user. */
  user_id: OrNull<string>
  trace_id: OrNull<string>
  state: 'pending' | 'attached' | 'withdrawn'
  /** 1–5. */
  rating: OrNull<number>
  thumbs: OrNull<'up' | 'down'>
  labels: ByDefault<string[]>
  comment: OrNull<string>
  correction: OrNull<string>
  metadata: Json<Record<string, string>>
  /** Null for an item that judges nothing, such as a comment alone. */
  sentiment: OrNull<'negative' | 'neutral' | 'positive'>
  /** Whether rates count it. True for at most one item of a subject and task. */
  counts: ByDefault<boolean>
  /** Time of the feedback, by which rates count it. */
  at: Instant
  /** Whether the client's time was replaced by the time of receipt. */
  time_adjusted: ByDefault<boolean>
  /** Starts at 1 and grows with each change. */
  version: number
  /** Whether a browser key created it. */
  by_browser: boolean
  /** Keyed tag of the client network of a browser key, 0–32,767; null for other items. */
  network_tag: OrNull<number>
  created_at: Instant
  /** `user:<id>`, `key:<id>` or `service_account:<id>`. */
  created_by: string
  updated_at: Instant
  updated_by: string
  /** SHA-256 of the body that created it. */
  body_digest: Buffer
}

/** An item after one of its changes. It is deleted with the item. */
interface FeedbackRevisionsTable {
  project_id: string
  task_id: string
  feedback_id: string
  version: number
  action: 'created' | 'edited' | 'withdrawn'
  at: Instant
  actor: string
  value: Json<Record<string, unknown>>
}

/** Votes that count in an hour, with one value of a dimension. */
interface FeedbackHoursTable {
  project_id: string
  source: Source
  dimension: 'all' | 'task_name' | 'release' | 'model' | 'label'
  /** Start of the hour, UTC. */
  hour: Instant
  /** Empty for tasks without one. */
  environment: string
  /** Empty for `all`, and for tasks without a value. */
  value: string
  negative: CountByDefault
  neutral: CountByDefault
  positive: CountByDefault
}

/** Number of items that were refused, or dropped because their task never arrived. */
interface FeedbackDropsTable {
  project_id: string
  hour: Instant
  reason: 'task_not_seen' | 'pending_limit' | 'task_limit'
  items: number
}
