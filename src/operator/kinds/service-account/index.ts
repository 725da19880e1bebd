import type { Kind } from '../../contract.ts'
import { reconcileServiceAccount, removeServiceAccount } from './reconcile.ts'
import {
  type ServiceAccountSpec,
  type ServiceAccountStatus,
  serviceAccountSpec,
  serviceAccountStatus,
} from './spec.ts'

/** A service account of a project, what it may do, and its keys in Secrets. */
export const serviceAccountKind: Kind<ServiceAccountSpec, ServiceAccountStatus> = {
  kind: 'LooptraceServiceAccount',
  plural: 'looptraceserviceaccounts',
  singular: 'looptraceserviceaccount',
  short_names: ['ltsa'],
  description:
    'A service account of a project: what it may do, and its keys, each written to a Secret, rotated and revoked.',
  spec: serviceAccountSpec,
  status: serviceAccountStatus,
  rules: [],
  columns: [
    {
      name: 'Project',
      type: 'string',
      path: '.status.projectId',
      description: 'The project.',
      priority: 1,
    },
    {
      name: 'Account',
      type: 'string',
      path: '.status.serviceAccountId',
      description: 'The id of the account in the service.',
    },
    {
      name: 'Disabled',
      type: 'boolean',
      path: '.spec.disabled',
      description: 'Whether its keys are refused.',
    },
    {
      name: 'Scopes',
      type: 'string',
      path: '.spec.scopes',
      description: 'What its keys may do.',
      priority: 1,
    },
  ],
  reasons: {
    SecretNotOwned:
      'A Secret of a declared name belongs to somebody else. Its key is not made; the others are.',
    NameTaken: 'Another service account of the project has the name.',
    InvalidExternalId: 'The annotation `looptrace.dev/external-id` is no id of a service account.',
  },
  owns_secrets: true,
  example: {
    metadata: { name: 'checkout-agent', namespace: 'looptrace' },
    spec: {
      projectRef: { name: 'default' },
      scopes: ['proxy:write', 'ingest:write', 'tasks:write'],
      keys: [
        { name: 'main', secretName: 'checkout-agent-key', rotateAfter: '720h', overlap: '24h' },
      ],
    },
  },
  reconcile: reconcileServiceAccount,
  remove: removeServiceAccount,
}
