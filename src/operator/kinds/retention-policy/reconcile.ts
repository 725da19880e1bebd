import {
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { ownerOf, ownerQuery } from '../../installation.ts'
import { type ServiceClient, ServiceRefusal } from '../../service/service-client.ts'
import {
  type DesiredPolicy,
  type Difference,
  describeDifferences,
  desiredPolicy,
  differences,
  policyPath,
  readPolicy,
  type StoredPolicy,
  toNotReady,
  uidPath,
} from './policy.ts'
import type { RetentionPolicySpec, RetentionPolicyStatus } from './spec.ts'

/** A RetentionPolicy resource. */
export type RetentionPolicy = Resource<RetentionPolicySpec, RetentionPolicyStatus>

/**
 * Applies the spec to the project's policy in the service: reads, compares, writes only if it
 * differs, and reads again. Throws `NotReady` (`Conflict`) when an older resource names the same
 * project.
 */
export async function reconcileRetention(
  resource: RetentionPolicy,
  deps: ReconcileDeps,
): Promise<Reconciled<RetentionPolicyStatus>> {
  const { service, project_id } = deps
  requireWinner(resource, deps.rivals() as readonly RetentionPolicy[], project_id)
  const wanted = desiredPolicy(resource, deps.installation)
  const before = await readPolicy(service, project_id)
  const changes = differences(wanted, before)
  if (changes.length === 0 && before !== undefined) {
    return { conditions: [ready], status: statusOf(resource, before) }
  }
  await deps.noteExternalId(project_id)
  await put(deps, project_id, wanted, before)
  const after = await readBack(deps, project_id, wanted)
  const drift = findDrift(resource, changes)
  const status = statusOf(resource, after)
  return {
    conditions: [ready],
    status: drift.length === 0 ? status : { ...status, drift: countDrift(resource, deps) },
    events: [changeEvent(changes, { drift, before })],
    drifted: drift.length,
  }
}

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Synced',
  message: 'The service keeps the data of the project as declared.',
} as const

/** Interval at which the others check whether the winner still exists. */
const conflictCheck_ms = 10_000

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
    { again_after_ms: conflictCheck_ms },
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

async function put(
  { service }: ReconcileDeps,
  project_id: string,
  wanted: DesiredPolicy,
  before: StoredPolicy | undefined,
): Promise<void> {
  const { namespace, name } = wanted.managed_by
  const owner = before?.managed_by
  // This resource won, so another owner is younger or gone. An unreadable policy has no owner.
  const take_over =
    before === undefined ||
    (owner != null && (owner.namespace !== namespace || owner.name !== name))
  const body = { ...wanted, take_over }
  try {
    await service.request({ method: 'PUT', path: policyPath, project_id, body })
  } catch (error) {
    throw toNotReady(error)
  }
}

async function readBack(
  { service }: ReconcileDeps,
  project_id: string,
  wanted: DesiredPolicy,
): Promise<StoredPolicy> {
  const after = await readPolicy(service, project_id)
  const remaining = differences(wanted, after)
  if (after !== undefined && remaining.length === 0) return after
  throw new NotReady(
    'NotApplied',
    `the policy was written, but the read-back differs: ${describeDifferences(remaining)}`,
    { again_after_ms: notApplied_ms },
  )
}

const notApplied_ms = 10_000

/**
 * Returns the changes by someone else: those after this generation of the spec had been applied,
 * without an older resource or the end of a grant in between.
 */
function findDrift(
  { meta, status }: RetentionPolicy,
  changes: readonly Difference[],
): Difference[] {
  const { appliedGeneration, conditions = [] } = status
  const was_behind = conditions.some(({ type, reason }) => type === 'Ready' && behind.has(reason))
  const was_applied = appliedGeneration === meta.generation && !was_behind
  return was_applied ? changes.filter(({ path }) => path !== uidPath) : []
}

/** Reasons of Ready while another resource, or none, declared the policy. */
const behind = new Set(['Conflict', 'NotGranted'])

function countDrift({ status }: Pick<RetentionPolicy, 'status'>, { clock }: ReconcileDeps) {
  const lastTime = new Date(clock.now_ms()).toISOString()
  return { count: (status.drift?.count ?? 0) + 1, lastTime }
}

function changeEvent(
  changes: readonly Difference[],
  { drift, before }: { drift: readonly Difference[]; before: StoredPolicy | undefined },
): EventDraft {
  const action = 'PutPolicy'
  if (drift.length > 0) {
    const note = `Corrected changes made in the service: ${describeDifferences(drift)}`
    return { type: 'Warning', reason: 'DriftCorrected', action, note }
  }
  const owner = before?.managed_by
  const shown = changes.filter(({ path }) => path !== uidPath)
  const note =
    shown.length === 0
      ? 'Adopted again by this resource'
      : `Written to the service: ${describeDifferences(shown)}`
  const is_new = owner == null || shown.some(({ path }) => path === 'managedBy')
  return { type: 'Normal', reason: is_new ? 'Applied' : 'Updated', action, note }
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

/**
 * Deletes the policy and its holds, so that all data is kept forever again. With
 * `deletionPolicy: Retain` both stay without an owner. Those of another resource are left alone.
 */
export async function removeRetention(
  resource: RetentionPolicy,
  {
    service,
    project_id,
    installation,
  }: Pick<ReconcileDeps, 'service' | 'project_id' | 'installation'>,
): Promise<void> {
  const { meta, spec } = resource
  // The annotation is the id of the project, also of a policy that is older than grants.
  const ids = new Set([project_id, meta.external_id ?? ''].filter((id) => id !== ''))
  const retain = spec.deletionPolicy === 'Retain'
  const managed_by = ownerQuery(ownerOf(meta, installation))
  for (const id of ids) await endDeclaration(service, { project_id: id, managed_by, retain })
}

/**
 * Releases the policy after the grant was withdrawn: data is kept as before, and the project's
 * administrators may change the policy again.
 */
export async function withdrawRetention(
  { meta }: Pick<RetentionPolicy, 'meta'>,
  {
    service,
    project_id,
    installation,
  }: Pick<ReconcileDeps, 'service' | 'project_id' | 'installation'>,
): Promise<void> {
  const managed_by = ownerQuery(ownerOf(meta, installation))
  await endDeclaration(service, { project_id, managed_by, retain: true })
}

/** Deletes or releases the policy that a resource declares in one project. */
async function endDeclaration(
  service: ServiceClient,
  declared: { project_id: string; managed_by: string; retain: boolean },
): Promise<void> {
  const { project_id, managed_by, retain } = declared
  const query = new URLSearchParams({ managed_by })
  if (retain) query.set('retain', 'true')
  const path = `${policyPath}?${query}`
  try {
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    if (!isNoLongerOurs(error)) throw error
  }
}

/**
 * Codes of refusals that end a removal: the project is gone, or another resource owns the policy.
 */
const done = new Set(['project_not_found', 'managed_by_kubernetes'])

function isNoLongerOurs(error: unknown): boolean {
  return error instanceof ServiceRefusal && done.has(error.code)
}
