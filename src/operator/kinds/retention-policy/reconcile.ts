import {
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { resolveProject } from '../../service/project-ref.ts'
import { type ServiceClient, ServiceRefusal } from '../../service/service-client.ts'
import {
  type DesiredPolicy,
  type Difference,
  desiredPolicy,
  differences,
  differencesText,
  uidPath,
} from './desired-policy.ts'
import type { RetentionPolicyStatus } from './spec.ts'
import { asNotReady, policyPath, readPolicy, type StoredPolicy } from './stored-policy.ts'
import { nameOf, type RetentionPolicy, rivalWords, winnerOf } from './winner.ts'

/**
 * Brings a project's retention in the service to what the spec says: reads, compares, writes only
 * what differs, and reads again. A project that another, older resource declares is left to it.
 */
export async function reconcileRetention(
  resource: RetentionPolicy,
  deps: ReconcileDeps,
): Promise<Reconciled<RetentionPolicyStatus>> {
  const { service } = deps
  const project_id = await resolveProject(resource.spec.projectRef, service, deps.clock)
  const rivals = deps.findPeers(rivalWords(resource, project_id))
  refuseBehindAnother(resource, rivals as readonly RetentionPolicy[], project_id)
  const { external_id } = resource.meta
  if (external_id !== undefined && external_id !== project_id) {
    await letGo(resource, service, external_id)
  }
  const wanted = desiredPolicy(resource)
  const before = await readPolicy(service, project_id)
  const changes = differences(wanted, before)
  if (changes.length === 0 && before !== undefined) {
    return { conditions: [ready], status: statusOf(resource, project_id, before) }
  }
  if (external_id !== project_id) await deps.noteExternalId(project_id)
  await put(deps, project_id, wanted, before)
  const after = await readBack(deps, project_id, wanted)
  const drift = driftOf(resource, project_id, changes)
  const status = statusOf(resource, project_id, after)
  return {
    conditions: [ready],
    status: drift.length === 0 ? status : { ...status, drift: moreDrift(resource, deps) },
    events: [eventOf(changes, { drift, before })],
    drifted: drift.length,
  }
}

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Synced',
  message: 'The data of the project is kept as declared.',
} as const

/** A winner that goes tells nobody but the API server, so the others look now and then. */
const conflictAgain_ms = 10_000

function refuseBehindAnother(
  resource: RetentionPolicy,
  rivals: readonly RetentionPolicy[],
  project_id: string,
): void {
  const winner = winnerOf(resource, rivals)
  if (nameOf(winner) === nameOf(resource)) return
  throw new NotReady(
    'Conflict',
    `RetentionPolicy ${nameOf(winner)}, which is older, declares the retention of the project ${project_id}`,
    { again_after_ms: conflictAgain_ms },
  )
}

async function put(
  { service }: ReconcileDeps,
  project_id: string,
  wanted: DesiredPolicy,
  before: StoredPolicy | undefined,
): Promise<void> {
  const { namespace, name } = wanted.managed_by
  const owner = before?.managed_by
  // Whoever declares it is younger or no more: this resource won. What can't be read is nobody's.
  const take_over =
    before === undefined ||
    (owner != null && (owner.namespace !== namespace || owner.name !== name))
  const body = { ...wanted, take_over }
  try {
    await service.request({ method: 'PUT', path: policyPath, project_id, body })
  } catch (error) {
    throw asNotReady(error)
  }
}

async function readBack(
  { service }: ReconcileDeps,
  project_id: string,
  wanted: DesiredPolicy,
): Promise<StoredPolicy> {
  const after = await readPolicy(service, project_id)
  const left = differences(wanted, after)
  if (after !== undefined && left.length === 0) return after
  throw new NotReady(
    'NotApplied',
    `it was written, but reads back otherwise: ${differencesText(left)}`,
    { again_after_ms: notApplied_ms },
  )
}

const notApplied_ms = 10_000

/**
 * What was changed behind the resource's back: the project had been brought to this very spec, and
 * no older resource came in between.
 */
function driftOf(
  { meta, status }: RetentionPolicy,
  project_id: string,
  changes: readonly Difference[],
): Difference[] {
  const { appliedGeneration, projectId, conditions = [] } = status
  const was_behind = conditions.some(
    ({ type, reason }) => type === 'Ready' && reason === 'Conflict',
  )
  const was_applied =
    appliedGeneration === meta.generation && projectId === project_id && !was_behind
  return was_applied ? changes.filter(({ path }) => path !== uidPath) : []
}

function moreDrift({ status }: Pick<RetentionPolicy, 'status'>, { clock }: ReconcileDeps) {
  const lastTime = new Date(clock.now_ms()).toISOString()
  return { count: (status.drift?.count ?? 0) + 1, lastTime }
}

function eventOf(
  changes: readonly Difference[],
  { drift, before }: { drift: readonly Difference[]; before: StoredPolicy | undefined },
): EventDraft {
  const action = 'PutPolicy'
  if (drift.length > 0) {
    const note = `Put right what was changed in the service: ${differencesText(drift)}`
    return { type: 'Warning', reason: 'DriftCorrected', action, note }
  }
  const owner = before?.managed_by
  const told = changes.filter(({ path }) => path !== uidPath)
  const note =
    told.length === 0
      ? 'Taken up again by this resource'
      : `Written to the service: ${differencesText(told)}`
  const is_new = owner == null || told.some(({ path }) => path === 'managedBy')
  return { type: 'Normal', reason: is_new ? 'Applied' : 'Updated', action, note }
}

function statusOf(
  { meta, status }: Pick<Resource<never, RetentionPolicyStatus>, 'meta' | 'status'>,
  projectId: string,
  stored: StoredPolicy,
): RetentionPolicyStatus {
  const { last_run, next_run_at, next_archive_at } = stored
  return {
    projectId,
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
 * Takes the policy and its holds back, so that everything stays for ever again; with
 * `deletionPolicy: Retain` lets go of them. Both are left alone where they are another's.
 */
export async function removeRetention(
  resource: RetentionPolicy,
  { service }: Pick<ReconcileDeps, 'service'>,
): Promise<void> {
  for (const project_id of await projectsOf(resource, service)) {
    await letGo(resource, service, project_id)
  }
}

/** Takes back what the resource declares in a project. */
export async function letGo(
  { meta, spec }: RetentionPolicy,
  service: ServiceClient,
  project_id: string,
): Promise<void> {
  const { kind, namespace, name } = meta
  const query = new URLSearchParams({ managed_by: `${kind}/${namespace}/${name}` })
  if (spec.deletionPolicy === 'Retain') query.set('retain', 'true')
  const path = `${policyPath}?${query}`
  try {
    await service.request({ method: 'DELETE', path, project_id })
  } catch (error) {
    if (!isNoLongerOurs(error)) throw error
  }
}

/** The project is gone, or another resource declares its retention by now. */
const done = new Set(['project_not_found', 'managed_by_kubernetes'])

function isNoLongerOurs(error: unknown): boolean {
  return error instanceof ServiceRefusal && done.has(error.code)
}

/**
 * Projects in which the resource may have written: as the annotation, the status and the spec say.
 * Only where none names one is the name looked up.
 */
async function projectsOf(
  { meta, status, spec }: RetentionPolicy,
  service: ServiceClient,
): Promise<string[]> {
  const known = [meta.external_id, status.projectId, spec.projectRef.id?.toLowerCase()]
  const ids = new Set(known.filter((id) => id !== undefined))
  if (ids.size > 0) return [...ids]
  try {
    return [await resolveProject(spec.projectRef, service)]
  } catch (error) {
    if (error instanceof NotReady) return []
    throw error
  }
}
