import type {
  ByDefault,
  CountByDefault,
  DollarsByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/**
 * The tables of migrations `0002_tasks` and `0005_task_counted`, with what `0014_findings` adds to
 * them, for `Kysely<TaskTables>`.
 */
export interface TaskTables {
  tasks: TasksTable
  task_events: TaskEventsTable
  conversations: ConversationsTable
}

/** One task with its roll-up: that of the observations, each counted once. */
interface TasksTable {
  project_id: string
  /** The client's own string, ≤ 256 characters. */
  task_id: string
  name: string
  user_id: OrNull<string>
  conversation_id: OrNull<string>
  /** True when no header named the task and the trace stands for it. */
  implicit: boolean
  state: ByDefault<'running' | 'completed' | 'failed'>
  ended_at: InstantOrNull
  ended_by: OrNull<string>
  end_note: OrNull<string>
  created_at: InstantByDefault
  /** Start of the first call. */
  started_at: Instant
  last_activity_at: Instant
  /** True once a call arrived for the task after it had ended. */
  late_activity: ByDefault<boolean>
  calls: CountByDefault
  errors: CountByDefault
  cancelled: CountByDefault
  input_uncached_tokens: CountByDefault
  cache_read_tokens: CountByDefault
  cache_write_tokens: CountByDefault
  output_visible_tokens: CountByDefault
  reasoning_tokens: CountByDefault
  total_tokens: CountByDefault
  /** Calls whose tokens we counted because the provider did not say. */
  estimated_calls: CountByDefault
  cost_usd: DollarsByDefault
  /** Calls whose model has no known price, so that `cost_usd` lacks them. */
  unpriced_calls: CountByDefault
  duration_ms: CountByDefault
  models: ByDefault<string[]>
  providers: ByDefault<string[]>
  environment: OrNull<string>
  release: OrNull<string>
  updated_at: InstantByDefault
  /** Start of the last call. */
  last_started_at: InstantOrNull
  /** Fingerprints of the observations counted; null where they are not known or too many. */
  counted: OrNull<number[]>
  /** Of its open and recovered findings: 0 none, 1 info … 5 critical. */
  worst_severity: CountByDefault
  wasted_tokens: CountByDefault
  wasted_cost_usd: DollarsByDefault
  /** What detection says of the task as a whole; null until it was looked at. */
  verdict: JsonOrNull<TaskVerdict>
}

/** What detection says of a task as a whole. */
export type TaskVerdict = {
  /** Findings that are not withdrawn, by severity. */
  findings: { [severity in 'info' | 'low' | 'medium' | 'high' | 'critical']: number }
  recovered: number
  root_cause: {
    finding_id: string
    type: string
    step: number | null
    evidence: { readonly [key: string]: unknown }
  } | null
  summary: string
  detected_at: string
}

/** What happened to a task, by whom. */
interface TaskEventsTable {
  id: string
  project_id: string
  task_id: string
  kind: 'created' | 'completed' | 'failed' | 'late_activity'
  at: Instant
  actor_kind: string
  actor_id: OrNull<string>
  note: OrNull<string>
}

/** One conversation with its roll-up, recomputed like a task's. */
interface ConversationsTable {
  project_id: string
  conversation_id: string
  /** What the client sent as X-Conversation-ID when that was no UUID. */
  external_id: OrNull<string>
  user_id: OrNull<string>
  started_at: Instant
  last_activity_at: Instant
  tasks: CountByDefault
  traces: CountByDefault
  calls: CountByDefault
  errors: CountByDefault
  total_tokens: CountByDefault
  cost_usd: DollarsByDefault
  models: ByDefault<string[]>
  updated_at: InstantByDefault
}
