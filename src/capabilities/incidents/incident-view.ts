import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { severities } from '../../model/severity.ts'

/** Something that shows why an incident was opened. */
export const evidenceSchema = record('IncidentEvidence', {
  kind: z
    .enum(['finding', 'trace', 'task', 'value', 'ledger', 'verification'])
    .meta({ id: 'EvidenceKind' }),
  id: z.string().optional().describe('Id of the finding, trace, task or verification.'),
  task_id: z.string().optional(),
  trace_id: z.string().optional(),
  type: z.string().optional().describe('Type of the finding or of the ledger entry.'),
  summary: z.string().optional(),
  value: z.number().nullable().optional().describe('Value of the signal at `at`.'),
  samples: z.int().optional(),
  at: z.iso.datetime(),
})
export type Evidence = z.output<typeof evidenceSchema>

/** An incident as routes and messages show it. */
export const incidentSchema = record('Incident', {
  incident_id: z.uuid(),
  project_id: z.uuid(),
  number: z.int().describe('Number of the incident in its project, from 1.'),
  title: z.string(),
  state: z.enum(['open', 'acknowledged', 'resolved']).meta({ id: 'IncidentState' }),
  severity: z.enum(severities).describe('Highest severity since the opening.'),
  rule: z.string().describe('Name of the rule that opened the incident.'),
  rules: z.array(z.string()).describe('Names of all rules that contributed.'),
  signal: z.string().describe('Signal of the rule; the source for event rules.'),
  group: z.record(z.string(), z.string()).describe('Values of the dimensions of `group_by`.'),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  runbook_url: z.string().nullable(),
  dedup_key: z.string(),
  assignee: z.string().nullable(),
  suppressed: z.boolean().describe('Whether messages are muted.'),
  suppressed_by: z.array(z.string()).describe('Ids of suppressions; `person` for one by hand.'),
  snoozed_until: z.iso.datetime().nullable().describe('End of a snooze; null without one.'),
  inhibited_by: z.array(z.string()).describe('Ids of the incidents that mute this one.'),
  flapping: z.boolean(),
  late: z.boolean().describe('Opened for rows that arrived late.'),
  orphaned: z.boolean().describe('Its rules were suspended, changed or deleted.'),
  shadow: z.boolean().describe('Only shadow rules contributed: no messages.'),
  version: z.int().describe('Version; also the ETag.'),
  opened_at: z.iso.datetime(),
  acknowledged_at: z.iso.datetime().nullable(),
  resolved_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime(),
  evidence: z.array(evidenceSchema).max(50),
})
export type IncidentView = z.output<typeof incidentSchema>
