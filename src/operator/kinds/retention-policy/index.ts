import type { Kind } from '../../contract.ts'
import { reconcileRetention, removeRetention, withdrawRetention } from './reconcile.ts'
import {
  type RetentionPolicySpec,
  type RetentionPolicyStatus,
  retentionPolicyRules,
  retentionPolicySpec,
  retentionPolicyStatus,
} from './spec.ts'

/** The kind of a project's retention: days, archives and legal holds. */
export const retentionPolicyKind: Kind<RetentionPolicySpec, RetentionPolicyStatus> = {
  kind: 'RetentionPolicy',
  plural: 'retentionpolicies',
  singular: 'retentionpolicy',
  short_names: ['retpol'],
  description:
    'Retention of a project’s data, its archives and its legal holds. If several granted policies name one project, the oldest applies.',
  spec: retentionPolicySpec,
  status: retentionPolicyStatus,
  rules: retentionPolicyRules,
  project: { withdraw: withdrawRetention, is_external_id: true },
  columns: [
    {
      name: 'Project',
      type: 'string',
      path: '.status.projectId',
      description: 'Id of the project.',
      priority: 1,
    },
    {
      name: 'Traces',
      type: 'integer',
      path: '.spec.traces.days',
      description: 'Days that traces are kept; empty means forever.',
    },
    {
      name: 'Observations',
      type: 'integer',
      path: '.spec.observations.days',
      description: 'Days that observations are kept; empty means forever.',
    },
    {
      name: 'Last Run',
      type: 'date',
      path: '.status.lastRun.endTime',
      description: 'Time at which the last retention run ended.',
    },
    {
      name: 'Held',
      type: 'integer',
      path: '.status.heldCount',
      description: 'Legal holds in the project.',
    },
  ],
  reasons: {
    ArchiveNotConfigured:
      'archive is enabled, but the service has no storage for archives. Set LOOPTRACE_BLOBS_URL there.',
    TooManyHolds: 'The project has the maximum number of legal holds. Release one.',
  },
  example: {
    metadata: { name: 'default', namespace: 'looptrace' },
    spec: {
      projectRef: { name: 'default' },
      traces: { days: 365 },
      observations: { days: 90 },
      content: { days: 30 },
      environments: [{ name: 'dev', traces: { days: 7 }, observations: { days: 7 } }],
      archive: { enabled: true, afterDays: 7, schedule: '0 4 * * *', beforeDelete: true },
      legalHolds: [{ name: 'case-12-2026', userId: 'ada@example.com', reason: 'case 12/2026' }],
    },
  },
  reconcile: reconcileRetention,
  remove: removeRetention,
}
