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

/** The tables of migrations `0014_findings` and `0015_judge`, for `Kysely<DetectionTables>`. */
export interface DetectionTables {
  task_detections: TaskDetectionsTable
  findings: FindingsTable
  detection_settings: DetectionSettingsTable
  judge_spend: JudgeSpendTable
}

/** What detection knows of a task; it goes with the task. */
interface TaskDetectionsTable {
  project_id: string
  task_id: string
  /** How often the task was marked. */
  touches: CountByDefault
  due_at: InstantOrNull
  rests_until: InstantOrNull
  claim: OrNull<string>
  claimed_until: InstantOrNull
  /** Tries that failed since the last one that did not. */
  failures: CountByDefault
  /** Another one since content of the task was taken out. */
  epoch: ByDefault<string>
  /** Results that were written. */
  revision: CountByDefault
  detected_at: InstantOrNull
  /** Of the settings that the result is of; 0 for the defaults. */
  settings_version: OrNull<number>
  /** The detectors and versions that the result is of. */
  detectors: OrNull<string>
  not_checked: Json<readonly { detector: string; reason: string }[]>
  /** What was said in the task, for later tasks of its conversation. */
  ledger: JsonOrNull<unknown>
  /** Users of the task's calls, also those that it is not told to be of. */
  user_ids: ByDefault<string[]>
  /** When the judge is to be asked about the task. */
  judge_due_at: InstantOrNull
  /** Somebody asks it, until then at most. */
  judge_claimed_until: InstantOrNull
  /** Digests of the answers that it was asked about last, and how often it failed since. */
  judged: JsonOrNull<{ answers: readonly string[]; failures: number }>
}

/** What was found in a task; it goes with the task. */
interface FindingsTable {
  /** UUIDv5 of project, task, type and anchor. */
  finding_id: string
  project_id: string
  task_id: string
  kind: 'loop' | 'failure' | 'context'
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
  /** Those of `places`, each once. */
  trace_ids: string[]
  wasted_tokens: number
  /** A `numeric(20,9)`, a decimal string both ways. */
  wasted_cost_usd: string
  recovered: boolean
  confidence: number
  evidence: Json<{ readonly [key: string]: unknown }>
  judge: OrNull<string>
  /** When the first observation that it rests on began. */
  started_at: Instant
  first_detected_at: Instant
  updated_at: Instant
}

/** Thresholds that a project has set: those that are not the defaults, by detector. */
interface DetectionSettingsTable {
  project_id: string
  detectors: Json<{ readonly [detector: string]: { readonly [setting: string]: unknown } }>
  /** 1 at first, one more with each change. */
  version: number
  updated_at: Instant
  updated_by: string
}

/** What projects have booked for the judge, each on its last day. */
interface JudgeSpendTable {
  project_id: string
  /** `YYYY-MM-DD`, UTC. */
  day: string
  /** Billionths of a US dollar. */
  nano_dollars: number
}
