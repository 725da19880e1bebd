import type {
  ByDefault,
  CountByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/** The tables of migration `0026_incidents`, for `Kysely<IncidentTables>`. */
export interface IncidentTables {
  incident_rules: IncidentRulesTable
  evaluation_leases: EvaluationLeasesTable
  rule_evaluations: RuleEvaluationsTable
  rule_states: RuleStatesTable
  rule_samples: RuleSamplesTable
  incident_numbers: { project_id: string; last: number }
  incidents: IncidentsTable
  incident_events: IncidentEventsTable
  incident_suppressions: IncidentSuppressionsTable
  incident_default_routes: IncidentDefaultRoutesTable
  notification_channels: NotificationChannelsTable
  notification_outbox: NotificationOutboxTable
  message_groups: MessageGroupsTable
  channel_threads: ChannelThreadsTable
  notification_deliveries: NotificationDeliveriesTable
}

type Severity = 'info' | 'low' | 'medium' | 'high' | 'critical'

/** A rule, declared by a person or by a custom resource. */
interface IncidentRulesTable {
  id: string
  project_id: string
  name: string
  kind: 'condition' | 'burn_rate' | 'baseline' | 'event'
  /** The rule with all defaults: `Rule` of the incidents capability. */
  spec: Json<Record<string, unknown>>
  suspended: boolean
  /** Starts at 1 and grows with each change. */
  version: number
  managed_by: JsonOrNull<Record<string, string>>
  created_at: Instant
  updated_at: Instant
  updated_by: string
}

/** The evaluator of a project. A holder whose lease ended has an older fence. */
interface EvaluationLeasesTable {
  project_id: string
  holder: string
  fence: number
  expires_at: Instant
}

/** The evaluation of a rule. */
interface RuleEvaluationsTable {
  rule_id: string
  project_id: string
  /** The newest version that was evaluated completely; 0 before the first. */
  rule_version: CountByDefault
  last_slot: InstantOrNull
  evaluated_at: InstantOrNull
  groups: CountByDefault
  overflow: CountByDefault
  gap_from: InstantOrNull
  gap_to: InstantOrNull
  lag_ms: CountByDefault
  partial: ByDefault<boolean>
  failures: CountByDefault
  last_error: OrNull<string>
  cursor: JsonOrNull<Record<string, unknown>>
}

/** The state of a rule for a group. */
interface RuleStatesTable {
  rule_id: string
  group_key: string
  project_id: string
  state: Json<Record<string, unknown>>
  firing: boolean
  last_slot: InstantOrNull
}

/** A measurement of a rule for a group at a slot. */
interface RuleSamplesTable {
  rule_id: string
  group_key: string
  slot: Instant
  project_id: string
  value: OrNull<number>
  samples: number
  lag_ms: number
}

/** An incident. `core` decides its next change; the other columns are for lists. */
interface IncidentsTable {
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
  /** Of the rule: when its messages are sent together. */
  grouping: Json<{ wait: string; interval: string; repeat: string }>
  dedup_key: string
  state: 'open' | 'acknowledged' | 'resolved'
  severity: Severity
  /** Of the severity: 1 info … 5 critical. */
  rank: number
  assignee: OrNull<string>
  suppressed: boolean
  flapping: boolean
  orphaned: boolean
  shadow: boolean
  version: number
  last_seq: number
  /** True once a person, a key or a channel moved it. */
  moved: ByDefault<boolean>
  opened_at: Instant
  first_acknowledged_at: InstantOrNull
  acknowledged_at: InstantOrNull
  resolved_at: InstantOrNull
  updated_at: Instant
  timer_at: InstantOrNull
  core: Json<Record<string, unknown>>
  evidence: Json<readonly Record<string, unknown>[]>
}

/** An entry of the timeline of an incident. */
interface IncidentEventsTable {
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

/** A suppression: which incidents are muted, and when. */
interface IncidentSuppressionsTable {
  id: string
  project_id: string
  spec: Json<Record<string, unknown>>
  version: number
  created_at: Instant
  created_by: string
  updated_at: Instant
  updated_by: string
}

/** The channels of incidents whose rules name none; one row for each project that has set them. */
interface IncidentDefaultRoutesTable {
  project_id: string
  spec: Json<Record<string, unknown>>
  version: number
  updated_at: Instant
  updated_by: string
}

/** A receiver of notifications. */
interface NotificationChannelsTable {
  id: string
  project_id: string
  name: string
  type: 'webhook' | 'slack' | 'pagerduty' | 'alertmanager' | 'email'
  /** Without secrets. */
  config: Json<Record<string, unknown>>
  /** Sealed secrets in base64, by field. */
  secrets: Json<Record<string, string>>
  fallback: OrNull<string>
  version: number
  disabled_at: InstantOrNull
  disabled_reason: OrNull<string>
  managed_by: JsonOrNull<Record<string, string>>
  created_at: Instant
  updated_at: Instant
  updated_by: string
}

/** A message of an incident to a channel. */
interface NotificationOutboxTable {
  /** Also the `webhook-id` of each attempt. */
  id: string
  project_id: string
  incident_id: string
  event_seq: number
  channel: string
  reason: string
  rule_name: string
  /** `wait` and `interval` of the rule. */
  grouping: Json<{ wait: string; interval: string; repeat: string }>
  /** The incident as it was at the event. */
  message: Json<Record<string, unknown>>
  late: boolean
  state: 'waiting' | 'delivered' | 'dead' | 'superseded'
  /** True once its group was due, or a person sent it again: it does not wait for the group. */
  released: ByDefault<boolean>
  attempts: CountByDefault
  /** Attempts before the last re-send. */
  attempts_before: CountByDefault
  next_attempt_at: Instant
  claim: OrNull<string>
  claimed_until: InstantOrNull
  last_error: OrNull<string>
  created_at: Instant
  ended_at: InstantOrNull
  /** Actions of its links that were used. */
  used_links: ByDefault<string[]>
}

/** The last message of a channel and a rule. */
interface MessageGroupsTable {
  project_id: string
  channel: string
  rule_name: string
  last_sent_at: Instant
}

/** The name of an incident at a receiver, such as a Slack timestamp. */
interface ChannelThreadsTable {
  project_id: string
  channel: string
  incident_id: string
  thread: string
}

/** An attempt to deliver a message. */
interface NotificationDeliveriesTable {
  id: string
  /** Null for a test message. */
  outbox_id: OrNull<string>
  project_id: string
  channel: string
  attempt: number
  started_at: Instant
  duration_ms: number
  status: OrNull<number>
  error: OrNull<string>
  /** At most 2 KB. */
  response: OrNull<string>
}
