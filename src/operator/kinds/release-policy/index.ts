import { z } from 'zod'
import { policyBody, policyFields } from '../../../capabilities/certification/policy/index.ts'
import { managedByField } from '../../../model/managed-by.ts'
import { nameRule } from '../../common-spec.ts'
import {
  type Kind,
  projectIdColumn,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { type Collection, declaredObject, removalOf } from '../../declared/declared-object.ts'
import { reconcileDeclared, synced } from '../../declared/reconcile-declared.ts'
import {
  type ReleasePolicySpec,
  type ReleasePolicyStatus,
  releasePolicySpec,
  releasePolicyStatus,
  toRules,
} from './spec.ts'

type ReleasePolicy = Resource<ReleasePolicySpec, ReleasePolicyStatus>

const storedShape = z.looseObject({
  policy_id: z.string(),
  version: z.int(),
  managed_by: managedByField.nullable(),
  policy: z.looseObject({ digest: z.string() }),
})

const policies: Collection<z.output<typeof storedShape>> = {
  path: '/api/v1/reliability/phase10/release-policies',
  noun: 'release policy',
  list: 'policies',
  shape: storedShape,
  not_found: 'release_policy_not_found',
  reasons: { managed_by_kubernetes: 'NameTaken', limit_reached: 'LimitReached' },
  idOf: ({ policy_id }) => policy_id,
}

/** Makes the policy in the service match the spec, and reports its version and digest. */
async function reconcileReleasePolicy(
  { meta, spec, status }: ReleasePolicy,
  deps: ReconcileDeps,
): Promise<Reconciled<ReleasePolicyStatus>> {
  const object = declaredObject(policies, meta, deps, spec.policyId ?? meta.name)
  return reconcileDeclared(
    {
      noun: 'policy',
      action: 'PutPolicy',
      object,
      idOf: policies.idOf,
      body: { ...policyBody.parse(toRules(spec)), managed_by: object.owner },
      valuesOf: ({ policy, managed_by }) => ({
        ...Object.fromEntries(Object.keys(policyFields).map((field) => [field, policy[field]])),
        managed_by,
      }),
      was_applied: status.appliedGeneration === meta.generation,
      report: ({ policy_id, version, policy: { digest } }) => ({
        conditions: [synced('The service has the policy as declared.')],
        status: { policyId: policy_id, version, digest, appliedGeneration: meta.generation },
      }),
    },
    deps,
  )
}

/**
 * A withdrawn policy stays: without it, releases could be certified by the weaker built-in one. An
 * admin of the project may change it. Versions that statements name remain in any case.
 */
const releasePolicyRemoval = removalOf((meta, deps) => declaredObject(policies, meta, deps), {
  withdrawn: 'kept',
})

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
        { metric: 'task_success_rate', kind: 'absolute', threshold: '0.95', minSamples: 200 },
        { metric: 'loop_rate', kind: 'absolute', threshold: '0.02' },
        {
          metric: 'unresolved_failure_rate',
          kind: 'regression',
          tier: 'supporting',
          maxDrop: '0.01',
        },
      ],
    },
  },
  reconcile: reconcileReleasePolicy,
  remove: releasePolicyRemoval.remove,
}
