/** Checks of the report, in the recommended order. */
export const checkIds = [
  'project_key',
  'first_call',
  'first_task',
  'first_verdict',
  'first_span',
  'seeded_scenario',
  'incident_rule',
  'notification_channel',
  'ledger_complete',
  'verification',
  'verification_policy',
  'feedback',
  'retention_policy',
  'archive',
] as const
export type CheckId = (typeof checkIds)[number]
