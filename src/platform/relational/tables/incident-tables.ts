import type {
  ByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonByDefault,
  JsonOrNull,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface IncidentTables {
  channel_threads: {
    project_id: string
    channel: string
    incident_id: string
    thread: string
  }
  evaluation_leases: {
    project_id: string
    holder: OrNull<string>
    fence: ByDefault<number>
    changes: ByDefault<number>
    due_at: InstantByDefault
    events_due_at: InstantByDefault
  }
  evaluation_workers: {
    holder: string
    expires_at: Instant
    leases: ByDefault<number>
  }
  incident_default_routes: {
    project_id: string
    spec: Json<JsonRecord>
    version: number
    updated_at: Instant
    updated_by: string
  }
  incident_events: {
    incident_id: string
    seq: number
    project_id: string
    type: string
    at: Instant
    recorded_at: Instant
    actor_type: 'rule' | 'user' | 'key' | 'channel' | 'timer'
    actor_id: string
    note: OrNull<string>
    notify: ByDefault<string[]>
  }
  incident_numbers: {
    project_id: string
    last: number
  }
  incident_rules: {
    id: string
    project_id: string
    name: string
    kind: 'condition' | 'burn_rate' | 'baseline' | 'event'
    spec: Json<JsonRecord>
    suspended: boolean
    version: number
    managed_by: JsonOrNull<Record<string, string>>
    created_at: Instant
    updated_at: Instant
    updated_by: string
  }
  incident_suppressions: {
    id: string
    project_id: string
    spec: Json<JsonRecord>
    version: number
    created_at: Instant
    created_by: string
    updated_at: Instant
    updated_by: string
  }
  incidents: {
    id: string
    project_id: string
    number: number
    rule_name: string
    title: string
    signal: string
    group_values: Json<Record<string, string>>
    labels: Json<Record<string, string>>
    annotations: Json<Record<string, string>>
    runbook_url: OrNull<string>
    grouping: Json<{ wait: string; interval: string; repeat: string }>
    dedup_key: string
    state: 'open' | 'acknowledged' | 'resolved'
    severity: 'info' | 'low' | 'medium' | 'high' | 'critical'
    rank: number
    assignee: OrNull<string>
    suppressed: boolean
    flapping: boolean
    orphaned: boolean
    shadow: boolean
    version: number
    last_seq: number
    moved: ByDefault<boolean>
    opened_at: Instant
    first_acknowledged_at: InstantOrNull
    acknowledged_at: InstantOrNull
    resolved_at: InstantOrNull
    updated_at: Instant
    timer_at: InstantOrNull
    core: Json<JsonRecord>
    evidence: JsonByDefault<readonly JsonRecord[]>
  }
  message_groups: {
    project_id: string
    channel: string
    rule_name: string
    last_sent_at: Instant
  }
  notification_channels: {
    id: string
    project_id: string
    name: string
    type: 'webhook' | 'slack' | 'pagerduty' | 'alertmanager' | 'email'
    config: Json<JsonRecord>
    secrets: JsonByDefault<Record<string, string>>
    fallback: OrNull<string>
    version: number
    disabled_at: InstantOrNull
    disabled_reason: OrNull<string>
    managed_by: JsonOrNull<Record<string, string>>
    created_at: Instant
    updated_at: Instant
    updated_by: string
  }
  notification_deliveries: {
    id: string
    outbox_id: OrNull<string>
    project_id: string
    channel: string
    attempt: number
    started_at: Instant
    duration_ms: number
    status: OrNull<number>
    error: OrNull<string>
    response: OrNull<string>
  }
  notification_outbox: {
    id: string
    project_id: string
    incident_id: string
    event_seq: number
    channel: string
    reason: string
    rule_name: string
    grouping: Json<{ wait: string; interval: string; repeat: string }>
    message: Json<JsonRecord>
    late: boolean
    state: 'waiting' | 'delivered' | 'dead' | 'superseded'
    released: ByDefault<boolean>
    attempts: ByDefault<number>
    attempts_before: ByDefault<number>
    next_attempt_at: Instant
    claim: OrNull<string>
    claimed_until: InstantOrNull
    last_error: OrNull<string>
    created_at: Instant
    ended_at: InstantOrNull
    used_links: ByDefault<string[]>
  }
  rule_evaluations: {
    rule_id: string
    project_id: string
    rule_version: ByDefault<number>
    last_slot: InstantOrNull
    evaluated_at: InstantOrNull
    groups: ByDefault<number>
    overflow: ByDefault<number>
    gap_from: InstantOrNull
    gap_to: InstantOrNull
    lag_ms: ByDefault<number>
    partial: ByDefault<boolean>
    failures: ByDefault<number>
    last_error: OrNull<string>
    cursor: JsonOrNull<JsonRecord>
  }
  rule_samples: {
    rule_id: string
    group_key: string
    slot: Instant
    project_id: string
    value: OrNull<number>
    samples: number
    lag_ms: number
  }
  rule_states: {
    rule_id: string
    group_key: string
    project_id: string
    state: Json<JsonRecord>
    firing: boolean
    last_slot: InstantOrNull
  }
}
