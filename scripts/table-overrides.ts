const source = "'end_user' | 'annotator' | 'rule'"
const records = 'readonly JsonRecord[]'
const texts = 'Record<string, string>'
const grouping = '{ wait: string; interval: string; repeat: string }'

/**
 * Types of the values of columns that the schema cannot say: JSON that is not a `JsonRecord`, texts
 * without a check, numbers that are read as text.
 */
export const tableOverrides: Readonly<Record<string, string>> = {
  'audit_reads.actor_kind': 'ActorKind',
  'audit_reads.via': 'CallPath',
  'audit_records.actor_kind': 'ActorKind',
  'audit_records.outcome': 'AuditOutcome',
  'audit_records.via': 'CallPath',
  'capture_policies.masks': 'StoredMask[]',
  'certification_evidence.items': records,
  'certification_keys.public_jwk': texts,
  'certification_policies.managed_by': 'ManagedBy',
  'detection_settings.detectors':
    '{ readonly [detector: string]: { readonly [setting: string]: unknown } }',
  'feedback.metadata': texts,
  'feedback_drops.reason': "'task_not_seen' | 'pending_limit' | 'task_limit'",
  'findings.places': 'readonly { trace_id: string; observation_id: string }[]',
  'hot_coverage.covered_from': 'bigint',
  'idempotency_keys.reply': 'unknown',
  'incident_rules.managed_by': texts,
  'incidents.annotations': texts,
  'incidents.evidence': records,
  'incidents.group_values': texts,
  'incidents.grouping': grouping,
  'incidents.labels': texts,
  'ingest_requests.errors': '{ pointer: string; detail: string }[]',
  'invitations.managed_by': 'ManagedBy',
  'kb_document_versions.format': "'text' | 'markdown' | 'html' | 'json'",
  'legal_holds.managed_by': 'ManagedBy',
  'notification_channels.managed_by': texts,
  'notification_channels.secrets': texts,
  'notification_outbox.grouping': grouping,
  'onboarding_events.metadata': 'Record<string, string | number | boolean>',
  'projects.managed_by': 'ManagedBy',
  'projects.released_by': 'ManagedBy',
  'archive_files.position': 'string[]',
  'rated_task_counts.source': source,
  'rated_tasks.source': source,
  'restored_slices.kinds': 'string[]',
  'retention_policies.archive': 'ArchiveSchedule',
  'retention_policies.days': 'RetentionDays',
  'retention_policies.environments':
    'readonly { environment: string; days: Partial<RetentionDays> }[]',
  'retention_policies.managed_by': 'ManagedBy',
  'saved_queries.parameters': 'StoredParameter[]',
  'service_accounts.managed_by': 'ManagedBy',
  'service_accounts.released_from': 'ManagedBy',
  'store_routing.routes':
    "Record<'point' | 'list' | 'aggregate' | 'explorer', 'auto' | 'clickhouse' | 'postgres'>",
  'store_routing.write_stores': "('clickhouse' | 'postgres')[]",
  'task_detections.judged': '{ answers: readonly string[]; failures: number }',
  'task_detections.ledger': 'unknown',
  'task_detections.not_checked': 'readonly { detector: string; reason: string }[]',
  'tasks.verdict': 'TaskVerdict',
  'tasks.verification_state': "'pending' | 'verified' | 'failed' | 'cancelled'",
  'verification_claim_labels.machine': records,
  'verification_claims.checked_values': records,
  'verification_claims.results': records,
  'verification_overrides.machine': records,
  'verification_runs.counts': 'Record<string, number>',
  'verification_runs.error': '{ code: string; message: string }',
  'verification_runs.verifier_runs': records,
  'verification_runs.verifiers': 'readonly { name: string; options: JsonRecord }[]',
  'verification_spend.nano_dollars': 'string | bigint',
}
