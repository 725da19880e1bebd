import type {
  ByDefault,
  CountByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

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
