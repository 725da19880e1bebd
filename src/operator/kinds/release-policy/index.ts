import { nameRule } from '../../common-spec.ts'
import { type Kind, projectIdColumn } from '../../contract.ts'
import { reconcileReleasePolicy, releasePolicyRemoval } from './policy.ts'
import {
  type ReleasePolicySpec,
  type ReleasePolicyStatus,
  releasePolicySpec,
  releasePolicyStatus,
} from './spec.ts'

/** The kind of a policy that releases are certified by. */
export const releasePolicyKind: Kind<ReleasePolicySpec, ReleasePolicyStatus> = {
  kind: 'ReleasePolicy',
  plural: 'releasepolicies',
  singular: 'releasepolicy',
  short_names: ['relpol'],
  description:
    'A policy that releases are certified by: gates over measured rates of their tasks and of their eval runs.',
  spec: releasePolicySpec,
  status: releasePolicyStatus,
  rules: [nameRule('policyId')],
  columns: [
    {
      name: 'Policy',
      type: 'string',
      path: '.status.policyId',
      description: 'Id of the policy in the project.',
    },
    {
      name: 'Version',
      type: 'integer',
      path: '.status.version',
      description: 'Version of the policy in the service.',
    },
    {
      name: 'Digest',
      type: 'string',
      path: '.status.digest',
      description: 'Digest of the version, as statements name it.',
      priority: 1,
    },
    projectIdColumn,
  ],
  reasons: {
    NameTaken: 'Another resource declares the policy of this id. Set policyId.',
    LimitReached: 'The project has the maximum number of policies. Delete one.',
  },
  project: { withdraw: releasePolicyRemoval.withdraw },
  example: {
    metadata: { name: 'default', namespace: 'looptrace' },
    spec: {
      projectRef: { name: 'default' },
      gates: [
        {
          ...{ metric: 'task_success_rate', kind: 'absolute' },
          ...{ threshold: '0.95', minSamples: 200 },
        },
        { metric: 'loop_rate', kind: 'absolute', threshold: '0.02' },
        {
          ...{ metric: 'unresolved_failure_rate', kind: 'regression' },
          ...{ tier: 'supporting', maxDrop: '0.01' },
        },
      ],
    },
  },
  reconcile: reconcileReleasePolicy,
  remove: releasePolicyRemoval.remove,
}
