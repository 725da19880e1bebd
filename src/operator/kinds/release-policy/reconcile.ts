import {
  type ConditionDraft,
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import {
  desiredPolicy,
  policyDifferences,
  readPolicy,
  removePolicies,
  type StoredPolicy,
  writePolicy,
} from './policy-api.ts'
import type { ReleasePolicySpec, ReleasePolicyStatus } from './spec.ts'

type ReleasePolicy = Resource<ReleasePolicySpec, ReleasePolicyStatus>

/** Time until a written policy that read back otherwise is written again. */
const notApplied_ms = 10_000

/** Makes the policy in the service match the spec, and reports its version and digest. */
export async function reconcileReleasePolicy(
  resource: ReleasePolicy,
  deps: ReconcileDeps,
): Promise<Reconciled<ReleasePolicyStatus>> {
  const { meta, status } = resource
  const desired = desiredPolicy(resource, deps)
  const before = await readPolicy(deps, desired.policy_id)
  const changes = before === undefined ? ['policy'] : policyDifferences(before, desired)
  if (changes.length > 0) await writePolicy(deps, desired, before)
  const after = changes.length > 0 ? await readPolicy(deps, desired.policy_id) : before
  const left = after === undefined ? ['policy'] : policyDifferences(after, desired)
  if (after === undefined || left.length > 0) {
    const message = `the policy was written, but the read-back differs: ${left.join(', ')}`
    throw new NotReady('NotApplied', message, { again_after_ms: notApplied_ms })
  }
  await deps.noteExternalId(after.policy_id)
  const was_applied = status.appliedGeneration === meta.generation
  const drift = was_applied && before !== undefined ? changes : []
  return {
    conditions: [ready],
    status: {
      ...{ policyId: after.policy_id, version: after.version, digest: after.policy.digest },
      appliedGeneration: meta.generation,
    },
    events: eventsOf(before, changes, drift),
    drifted: drift.length,
  }
}

const ready: ConditionDraft = {
  type: 'Ready',
  status: 'True',
  reason: 'Synced',
  message: 'The service has the policy as declared.',
}

function eventsOf(
  before: StoredPolicy | undefined,
  changes: readonly string[],
  drift: readonly string[],
): EventDraft[] {
  if (changes.length === 0) return []
  const action = 'PutPolicy'
  if (before === undefined) {
    return [{ type: 'Normal', reason: 'Created', action, note: 'Created the policy.' }]
  }
  const what = changes.join(', ')
  if (drift.length > 0) {
    const note = `Corrected changes made in the service: ${what}`
    return [{ type: 'Warning', reason: 'DriftCorrected', action, note }]
  }
  const isAdopted = before.managed_by === null
  const note = isAdopted ? `Took over version ${before.version}: ${what}` : `Wrote ${what}`
  return [{ type: 'Normal', reason: isAdopted ? 'Adopted' : 'Updated', action, note }]
}

/** Deletes the policy; `Retain` removes only its owner. Versions that statements name remain. */
export async function removeReleasePolicy(
  { meta, spec }: ReleasePolicy,
  deps: ReconcileDeps,
): Promise<void> {
  await removePolicies(meta, deps, { retain: spec.deletionPolicy === 'Retain' })
}

/**
 * Removes the owner of the policy after the grant was withdrawn. The policy stays: without it, releases
 * could be certified by the weaker built-in one. An admin of the project may change it.
 */
export async function withdrawReleasePolicy(
  { meta }: Pick<ReleasePolicy, 'meta'>,
  deps: ReconcileDeps,
): Promise<void> {
  await removePolicies(meta, deps, { retain: true })
}
