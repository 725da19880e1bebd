import type { Kind } from '../../contract.ts'
import { reconcileRetention, removeRetention } from './reconcile.ts'
import {
  type RetentionPolicySpec,
  type RetentionPolicyStatus,
  retentionPolicyRules,
  retentionPolicySpec,
  retentionPolicyStatus,
} from './spec.ts'
import { projectWords } from './winner.ts'

/** How long a project's data is kept, when it is archived, and what is held. */
export const retentionPolicyKind: Kind<RetentionPolicySpec, RetentionPolicyStatus> = {
  kind: 'RetentionPolicy',
  plural: 'retentionpolicies',
  singular: 'retentionpolicy',
  short_names: ['retpol'],
  description:
    'How long the data of a project is kept, when it is archived, and what is held. A project follows one: of several the oldest.',
  spec: retentionPolicySpec,
  status: retentionPolicyStatus,
  rules: retentionPolicyRules,
  indexTerms: projectWords,
  columns: [
    {
      name: 'Project',
      type: 'string',
      path: '.status.projectId',
      description: 'The project.',
      priority: 1,
    },
    {
      name: 'Traces',
      type: 'integer',
      path: '.spec.traces.days',
      description: 'Days that traces are kept; empty: for ever.',
    },
    {
      name: 'Observations',
      type: 'integer',
      path: '.spec.observations.days',
      description: 'Days that observations are kept; empty: for ever.',
    },
    {
      name: 'Last Run',
      type: 'date',
      path: '.status.lastRun.endTime',
      description: 'When the last run of retention ended.',
    },
    {
      name: 'Held',
      type: 'integer',
      path: '.status.heldCount',
      description: 'What is held in the project.',
    },
  ],
  reasons: {
    ArchiveNotConfigured:
      'archive is enabled and the service has no place for archives: set LOOPTRACE_BLOBS_URL there.',
    TooManyHolds: 'The project can hold no more: release a legal hold.',
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
