import type {
  ByDefault,
  CountByDefault,
  DollarsByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/**
 * The tables of migrations `0002_tasks` and `0005_task_counted`, with what `0014_findings` and
 * `0028_verification` add to them, for `Kysely<TaskTables>`.
 */
export interface TaskTables {
  tasks: TasksTable
  task_events: TaskEventsTable
  conversations: ConversationsTable
}

/** A task with the roll-up of its observations, each counted once. */
interface TasksTable {
  project_id: string
  /** The client's own string, ≤ 256 characters. */
  task_id: string
  name: string
  user_id: OrNull<string>
  conversation_id: OrNull<string>
  /** True when no header named the task and its id is the trace id. */
  implicit: boolean
  state: ByDefault<'running' | 'completed' | 'failed'>
  ended_at: InstantOrNull
  ended_by: OrNull<string>
  end_note: OrNull<string>
  created_at: InstantByDefault
  /** Start of the first call. */
  started_at: Instant
  last_activity_at: Instant
  /** True once a call arrived after the end of the task. */
  late_activity: ByDefault<boolean>
  calls: CountByDefault
  /** Rows of calls that another row counts. */
  merged_calls: CountByDefault
  errors: CountByDefault
  cancelled: CountByDefault
  input_uncached_tokens: CountByDefault
  cache_read_tokens: CountByDefault
  cache_write_tokens: CountByDefault
  output_visible_tokens: CountByDefault
  reasoning_tokens: CountByDefault
  total_tokens: CountByDefault
  /** Calls with token counts estimated by Looptrace, because the provider reported none. */
  estimated_calls: CountByDefault
  cost_usd: DollarsByDefault
  /** Calls without a known price, which `cost_usd` does not include. */
  unpriced_calls: CountByDefault
  /** Calls in `cost_usd` with parts that have no rate of their own. */
  partially_priced_calls: CountByDefault
  duration_ms: CountByDefault
  models: ByDefault<string[]>
  providers: ByDefault<string[]>
  environment: OrNull<string>
  release: OrNull<string>
  updated_at: InstantByDefault
  /** Start of the last call. */
  last_started_at: InstantOrNull
  /** Fingerprints of the counted observations; null when unknown or too many. */
  counted: OrNull<number[]>
  /** Worst severity of open and recovered findings: 0 none, 1 info … 5 critical. */
  worst_severity: CountByDefault
  wasted_tokens: CountByDefault
  wasted_cost_usd: DollarsByDefault
  /** Verdict of detection on the whole task; null before the first analysis. */
  verdict: JsonOrNull<TaskVerdict>
  /** Trust of the newest verified answer, 0–1; null before, and for an answer without claims. */
  trust_score: OrNull<number>
  /** Share of the claims of that answer that a verifier decided. */
  trust_coverage: OrNull<number>
  /** State of the newest verification of the task; null without any. */
  verification_state: OrNull<'pending' | 'verified' | 'failed' | 'cancelled'>
  verified_at: InstantOrNull
}

/** The verdict of detection on a whole task. */
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
  /** Values of the answers; null if they were not checked, absent in verdicts of earlier versions. */
  values?: { checked: number; not_checked: number } | null
}

/** A state change of a task and its actor. */
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

/** A conversation with its roll-up, recomputed like the roll-up of a task. */
interface ConversationsTable {
  project_id: string
  conversation_id: string
  /** The client's X-Conversation-ID when it is not a UUID. */
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

/** The tables of migrations `0014_findings` and `0015_judge`, for `Kysely<DetectionTables>`. */
export interface DetectionTables {
  task_detections: TaskDetectionsTable
  findings: FindingsTable
  detection_settings: DetectionSettingsTable
  judge_spend: JudgeSpendTable
}

/** The detection state of a task. It is deleted with the task. */
interface TaskDetectionsTable {
  project_id: string
  task_id: string
  /** Number of times that the task was marked as due. */
  touches: CountByDefault
  due_at: InstantOrNull
  rests_until: InstantOrNull
  claim: OrNull<string>
  claimed_until: InstantOrNull
  /** Failed attempts since the last success. */
  failures: CountByDefault
  /** Changes whenever content of the task is removed. */
  epoch: ByDefault<string>
  /** Number of written results. */
  revision: CountByDefault
  detected_at: InstantOrNull
  /** Version of the settings of the result; 0 for the defaults. */
  settings_version: OrNull<number>
  /** Detectors and their versions of the result. */
  detectors: OrNull<string>
  not_checked: Json<readonly { detector: string; reason: string }[]>
  /** Context memory of the task, for later tasks of its conversation. */
  ledger: JsonOrNull<unknown>
  /** Users of the calls of the task, also those that `tasks.user_id` does not name. */
  user_ids: ByDefault<string[]>
  /** Names of the tools that the task called, at most 100. */
  tools: ByDefault<string[]>
  /** When to ask the judge about the task. */
  judge_due_at: InstantOrNull
  /** End of the claim of the worker that asks the judge. */
  judge_claimed_until: InstantOrNull
  /** Digests of the answers that were judged last, and failed attempts since. */
  judged: JsonOrNull<{ answers: readonly string[]; failures: number }>
}

/** A finding in a task. It is deleted with the task. */
interface FindingsTable {
  /** UUIDv5 of project, task, type and anchor. */
  finding_id: string
  project_id: string
  task_id: string
  kind: 'loop' | 'failure' | 'context' | 'claim'
  type: string
  detector: string
  detector_version: number
  severity: 'info' | 'low' | 'medium' | 'high' | 'critical'
  state: 'open' | 'recovered' | 'withdrawn'
  summary: string
  start_step: OrNull<number>
  end_step: OrNull<number>
  period: OrNull<number>
  repeats: OrNull<number>
  places: Json<readonly { trace_id: string; observation_id: string }[]>
  /** Distinct trace ids of `places`. */
  trace_ids: string[]
  wasted_tokens: number
  /** A `numeric(20,9)`, read and written as decimal text. */
  wasted_cost_usd: string
  recovered: boolean
  confidence: number
  evidence: Json<{ readonly [key: string]: unknown }>
  judge: OrNull<string>
  /** Start of its first observation. */
  started_at: Instant
  first_detected_at: Instant
  updated_at: Instant
}

/** Detection thresholds of a project that differ from the defaults, by detector. */
interface DetectionSettingsTable {
  project_id: string
  detectors: Json<{ readonly [detector: string]: { readonly [setting: string]: unknown } }>
  /** Starts at 1 and grows with each change. */
  version: number
  updated_at: Instant
  updated_by: string
}

/** Reserved cost of the judge per project, on its last day. */
interface JudgeSpendTable {
  project_id: string
  /** `YYYY-MM-DD`, UTC. */
  day: string
  /** Billionths of a US dollar. */
  nano_dollars: number
}
