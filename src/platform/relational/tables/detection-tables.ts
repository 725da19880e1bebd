import type {
  ByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonByDefault,
  JsonOrNull,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface DetectionTables {
  detection_settings: {
    project_id: string
    detectors: Json<{ readonly [detector: string]: { readonly [setting: string]: unknown } }>
    version: number
    updated_at: Instant
    updated_by: string
  }
  findings: {
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
    trace_ids: string[]
    wasted_tokens: number
    wasted_cost_usd: string
    recovered: boolean
    confidence: number
    evidence: Json<JsonRecord>
    judge: OrNull<string>
    started_at: Instant
    first_detected_at: Instant
    updated_at: Instant
  }
  judge_spend: {
    project_id: string
    day: string
    nano_dollars: number
  }
  task_detections: {
    project_id: string
    task_id: string
    touches: ByDefault<number>
    due_at: InstantOrNull
    rests_until: InstantOrNull
    claim: OrNull<string>
    claimed_until: InstantOrNull
    failures: ByDefault<number>
    epoch: ByDefault<string>
    revision: ByDefault<number>
    detected_at: InstantOrNull
    settings_version: OrNull<number>
    detectors: OrNull<string>
    not_checked: JsonByDefault<readonly { detector: string; reason: string }[]>
    ledger: JsonOrNull<unknown>
    user_ids: ByDefault<string[]>
    tools: ByDefault<string[]>
    judge_due_at: InstantOrNull
    judge_claimed_until: InstantOrNull
    judged: JsonOrNull<{ answers: readonly string[]; failures: number }>
  }
}
