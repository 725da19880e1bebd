import type { Kind } from '../../contract.ts'
import { listOwnedAccounts } from './account/account-api.ts'
import { reconcileServiceAccount } from './reconcile.ts'
import { removeServiceAccount, withdrawServiceAccount } from './remove.ts'
import {
  boundServiceAccount,
  type ServiceAccountSpec,
  type ServiceAccountStatus,
  serviceAccountSpec,
  serviceAccountStatus,
} from './spec.ts'

/** The kind of a project's service account with its scopes and its keys in Secrets. */
export const serviceAccountKind: Kind<ServiceAccountSpec, ServiceAccountStatus> = {
  kind: 'LooptraceServiceAccount',
  plural: 'looptraceserviceaccounts',
  singular: 'looptraceserviceaccount',
  short_names: ['ltsa'],
  description:
    'A service account of a project with its scopes. Its keys are written to Secrets, rotated and revoked.',
  spec: serviceAccountSpec,
  status: serviceAccountStatus,
  rules: [],
  bound: boundServiceAccount,
  columns: [
    {
      name: 'Project',
      type: 'string',
      path: '.status.projectId',
      description: 'Id of the project.',
      priority: 1,
    },
    {
      name: 'Account',
      type: 'string',
      path: '.status.serviceAccountId',
      description: 'Id of the service account in the service.',
    },
    {
      name: 'Disabled',
      type: 'boolean',
      path: '.spec.disabled',
      description: 'Whether the keys are disabled.',
    },
    {
      name: 'Scopes',
      type: 'string',
      path: '.spec.scopes',
      description: 'Permissions of the keys.',
      priority: 1,
    },
  ],
  reasons: {
    SecretNotOwned:
      'A declared Secret exists and belongs to another owner. Its key is not minted; the others are.',
    SecretNotWritable:
      'The API server refuses to store a Secret; the message gives its reason. Its key is not minted; the others are. The operator tries again with dry runs. After an attempt that minted a key, change the spec or the Secret, or set the annotation `looptrace.dev/reconcile-requested-at`.',
    NameTaken: 'Another service account of the project has this name.',
    InvalidExternalId:
      'The annotation `looptrace.dev/external-id` is not the id of a service account.',
  },
  owns_secrets: true,
  project: {
    needs: ({ scopes, keys }) => ({ scopes, keys: keys.length }),
    withdraw: withdrawServiceAccount,
    listOwned: listOwnedAccounts,
  },
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
