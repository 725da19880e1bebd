import { NotReady, type ReconcileDeps, type Reconciled, type Resource } from '../../contract.ts'
import { type DeclaredObject, singleObject } from '../../declared/declared-object.ts'
import { type Change, reconcileDeclared, synced } from '../../declared/reconcile-declared.ts'
import {
  describeDifferences,
  desiredPolicy,
  retention,
  type StoredPolicy,
  uidPath,
  valuesOf,
} from './policy.ts'
import type { RetentionPolicySpec, RetentionPolicyStatus } from './spec.ts'

/** A RetentionPolicy resource. */
export type RetentionPolicy = Resource<RetentionPolicySpec, RetentionPolicyStatus>

/**
 * Makes the project's policy in the service match the spec. Throws `NotReady` (`Conflict`) when an
 * older resource names the same project.
 */
export async function reconcileRetention(
  resource: RetentionPolicy,
  deps: ReconcileDeps,
): Promise<Reconciled<RetentionPolicyStatus>> {
  requireWinner(resource, deps.rivals() as readonly RetentionPolicy[], deps.project_id)
  const body = desiredPolicy(resource, deps.installation)
  return reconcileDeclared(
    {
      noun: 'policy',
      action: 'PutPolicy',
      is_permanent: true,
      body,
      valuesOf,
      object: takingOver(singleObject(retention, resource.meta, deps)),
      values: valuesOf(body),
      was_applied: wasApplied(resource),
      is_no_drift: (path) => path === uidPath,
      describe: describeDifferences,
      explain: explainChange,
      report: (stored, { drift }) => {
        const status = statusOf(resource, stored)
        return {
          conditions: [synced('The service keeps the data of the project as declared.')],
          status: drift.length === 0 ? status : { ...status, drift: countDrift(resource, deps) },
        }
      },
    },
    deps,
  )
}

/** Takes the policy over: this resource won, so another owner is younger or gone. */
function takingOver(object: DeclaredObject<StoredPolicy>): DeclaredObject<StoredPolicy> {
  const { namespace, name } = object.owner
  return {
    ...object,
    write: (body, before) => {
      const owner = before?.managed_by
      // An unreadable policy has no owner.
      const take_over =
        before === undefined ||
        (owner != null && (owner.namespace !== namespace || owner.name !== name))
      return object.write({ ...body, take_over }, before)
    },
  }
}

/** Interval at which the others check whether the winner still exists. */
const conflictCheckMs = 10_000

function requireWinner(
  resource: RetentionPolicy,
  rivals: readonly RetentionPolicy[],
  project_id: string,
): void {
  const winner = findWinner(resource, rivals)
  if (nameOf(winner) === nameOf(resource)) return
  throw new NotReady(
    'Conflict',
    `the older RetentionPolicy ${nameOf(winner)} already declares the retention of project ${project_id}`,
    { again_after_ms: conflictCheckMs },
  )
}

/**
 * Finds the policy that a project follows among those that may use it: the oldest, and among equally
 * old ones the first by namespace and name. `own` takes part even if it is not among the rivals.
 */
export function findWinner(
  own: RetentionPolicy,
  rivals: readonly RetentionPolicy[],
): RetentionPolicy {
  return [own, ...rivals].toSorted(byAge)[0] ?? own
}

/** Returns `namespace/name`. */
export function nameOf({ meta: { namespace, name } }: Pick<Resource, 'meta'>): string {
  return `${namespace}/${name}`
}

function byAge(left: RetentionPolicy, right: RetentionPolicy): number {
  const [one, other] = [Date.parse(left.meta.created_at), Date.parse(right.meta.created_at)]
  if (one !== other) return one - other
  return nameOf(left) < nameOf(right) ? -1 : 1
}

/**
 * Whether the service had this generation of the spec, without an older resource or the end of a
 * grant since.
 */
function wasApplied({ meta, status }: RetentionPolicy): boolean {
  const { appliedGeneration, conditions = [] } = status
  const was_behind = conditions.some(({ type, reason }) => type === 'Ready' && behind.has(reason))
  return appliedGeneration === meta.generation && !was_behind
}

/** Reasons of Ready while another resource, or none, declared the policy. */
const behind = new Set(['Conflict', 'NotGranted'])

function countDrift({ status }: Pick<RetentionPolicy, 'status'>, { clock }: ReconcileDeps) {
  const lastTime = new Date(clock.now_ms()).toISOString()
  return { count: (status.drift?.count ?? 0) + 1, lastTime }
}

function explainChange({ before, changes }: Change<StoredPolicy>) {
  const shown = changes.filter(({ path }) => path !== uidPath)
  const note =
    shown.length === 0
      ? 'Adopted again by this resource'
      : `Written to the service: ${describeDifferences(shown)}`
  const is_new = before?.managed_by == null || shown.some(({ path }) => path === 'managedBy')
  return { reason: is_new ? 'Applied' : 'Updated', note }
}

function statusOf(
  { meta, status }: Pick<Resource<never, RetentionPolicyStatus>, 'meta' | 'status'>,
  stored: StoredPolicy,
): RetentionPolicyStatus {
  const { last_run, next_run_at, next_archive_at } = stored
  return {
    appliedGeneration: meta.generation,
    policyVersion: stored.version,
    ...(last_run !== null && { lastRun: lastRunOf(last_run) }),
    rowsDeleted: stored.deleted_rows,
    bytesDeleted: stored.deleted_bytes,
    ...(next_run_at !== null && { nextRunTime: next_run_at }),
    ...(next_archive_at !== null && { nextArchiveTime: next_archive_at }),
    heldCount: stored.held_count,
    holds: stored.legal_holds.map(({ name, hold_id }) => ({ name, holdId: hold_id })),
    drift: status.drift ?? { count: 0 },
  }
}

function lastRunOf(run: NonNullable<StoredPolicy['last_run']>) {
  return {
    id: run.job_id,
    endTime: run.ended_at,
    state: run.state,
    rowsDeleted: run.deleted_rows,
    bytesDeleted: run.deleted_bytes,
  }
}

type RemovalDeps = Pick<ReconcileDeps, 'service' | 'project_id' | 'installation'>

/**
 * Deletes the policy and its holds, so that all data is kept forever again. With
 * `deletionPolicy: Retain` both stay without an owner. Those of another resource are left alone.
 */
export async function removeRetention(
  { meta, spec }: RetentionPolicy,
  deps: RemovalDeps,
): Promise<void> {
  // The annotation is the id of the project, also of a policy that is older than grants.
  const retain = spec.deletionPolicy === 'Retain'
  for (const project_id of new Set([deps.project_id, meta.external_id ?? ''])) {
    await singleObject(retention, meta, { ...deps, project_id }).remove({ retain })
  }
}

/**
 * Releases the policy after the grant was withdrawn: data is kept as before, and the project's
 * administrators may change the policy again.
 */
export async function withdrawRetention(
  { meta }: Pick<RetentionPolicy, 'meta'>,
  deps: RemovalDeps,
): Promise<void> {
  await singleObject(retention, meta, deps).remove({ retain: true })
}
