import { z } from 'zod'
import { policyBody, policyFields } from '../../../capabilities/certification/policy/policy.ts'
import { managedByField } from '../../../model/managed-by.ts'
import type { ReconcileDeps, Reconciled, Resource } from '../../contract.ts'
import { type Collection, declaredObject, removalOf } from '../../declared/declared-object.ts'
import { reconcileDeclared, synced } from '../../declared/reconcile-declared.ts'
import { type ReleasePolicySpec, type ReleasePolicyStatus, toRules } from './spec.ts'

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
export async function reconcileReleasePolicy(
  { meta, spec, status }: ReleasePolicy,
  deps: ReconcileDeps,
): Promise<Reconciled<ReleasePolicyStatus>> {
  const object = declaredObject(policies, meta, deps, spec.policyId ?? meta.name)
  return reconcileDeclared(
    {
      ...{ noun: 'policy', action: 'PutPolicy', object, idOf: policies.idOf },
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
export const releasePolicyRemoval = removalOf(
  (meta, deps) => declaredObject(policies, meta, deps),
  { withdrawn: 'kept' },
)
