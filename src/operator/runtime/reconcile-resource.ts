import { isDeepStrictEqual } from 'node:util'
import { duration_ms } from '../common-spec.ts'
import {
  type ConditionDraft,
  type Kind,
  NotReady,
  type ReconcileDeps,
  type Resource,
} from '../contract.ts'
import { annotations, finalizer } from '../names.ts'
import type { GrantDecision } from '../tenancy/decide-grant.ts'
import type { CachedResource } from './cached-resource.ts'
import { classifyFailure, type Failure } from './failure.ts'
import { type ProjectUsed, requireProject } from './project-access.ts'
import { createDeps, type ReconcileContext } from './reconcile-deps.ts'
import { createResourceWriter, type KnownIds, type ResourceWriter } from './resource-writer.ts'
import { withdrawProject } from './withdraw-project.ts'

/** The next step after a reconcile. */
export type Next =
  /** Nothing until the resource changes. */
  | { type: 'rest' }
  | { type: 'again'; after_ms: number }
  | { type: 'failed'; failure: Failure; resync_ms: number; error: unknown; is_new: boolean }

/**
 * Reconciles one resource. The project is withdrawn from a resource that is no longer granted it;
 * neither a pause nor a suspension stops that. A paused resource is skipped, one with an invalid
 * spec is refused, a deleted one is removed from the service, a suspended one is skipped. Otherwise
 * the finalizer is added, the kind applies the spec to the service, and the result is written to
 * the status. An error is written to the status and returned, so that the caller schedules a retry.
 */
export async function reconcileResource(
  context: ReconcileContext,
  cached: CachedResource,
): Promise<Next> {
  const { kind, kube, cache, timing } = context
  const writer = createResourceWriter({ kind, kube, cache, timing, reconciled: cached })
  try {
    return await reconcileByState(context, cached, writer)
  } catch (error) {
    return await reportFailure(context, writer, cached, error)
  }
}

async function reconcileByState(
  context: ReconcileContext,
  cached: CachedResource,
  writer: ResourceWriter,
): Promise<Next> {
  if (cached.deleting && !cached.finalizers.includes(finalizer)) return { type: 'rest' }
  const isServed = context.gate.serves(cached.meta.namespace)
  const decision = isServed ? context.access?.reserve(cached) : undefined
  const run: Run = { context, cached, writer, decision }
  if (!isServed) {
    const message = `namespace ${cached.meta.namespace} no longer matches the operator's namespace selector. Nothing is changed, revoked or deleted until it matches again`
    return skip(run, 'NamespaceNotSelected', message)
  }
  const isRemovable = cached.deleting && !cached.paused && cached.resource !== undefined
  if (isWithdrawn(run) && !isRemovable) return withdrawGrant(run)
  if (cached.paused) {
    const what = cached.deleting ? 'deletion is' : 'reconciliation is'
    return skip(run, 'Paused', `${what} paused: ${annotations.paused} is "true"`)
  }
  if (cached.resource === undefined) throw new NotReady('InvalidSpec', describeInvalidSpec(cached))
  if (cached.deleting) return removeFromService(run, cached.resource)
  if (cached.resource.spec.suspend) {
    return skip(run, 'Suspended', 'reconciliation is suspended: spec.suspend is true')
  }
  return applyToService(run, cached.resource)
}

/** One reconcile of one resource. */
type Run = {
  context: ReconcileContext
  cached: CachedResource
  writer: ResourceWriter
  /** Undefined for a kind without `projectRef`. */
  decision: GrantDecision | undefined
}

/** Whether the resource uses a project that it is no longer granted. */
function isWithdrawn({ cached, decision }: Run): boolean {
  const isRefused = decision !== undefined && 'refused' in decision
  return isRefused && decision.refused === 'NotGranted' && cached.project.projectId !== undefined
}

async function withdrawGrant(run: Run): Promise<Next> {
  const { context, cached, writer, decision } = run
  const refusal = decision !== undefined && 'message' in decision ? decision.message : ''
  const deps = depsOf(run, cached.project.projectId ?? '')
  const { kind, events } = context
  const next = await withdrawProject(cached, { kind, events, writer, deps, refusal })
  return next === undefined ? { type: 'rest' } : { type: 'again', ...next }
}

/** Applies the spec to the service and writes the state that was read back to the status. */
async function applyToService(run: Run, resource: Resource): Promise<Next> {
  const { context, cached, writer } = run
  const project = requireProject(context.kind, cached, run.decision)
  writer.useProject(project)
  // An older CRD has no default condition.
  if (!cached.has_conditions || !isProjectSafe(run, project)) {
    const draft = readyCondition('Unknown', 'Reconciling', 'the first reconcile is in progress')
    const conditions = cached.conditions.length === 0 ? [draft] : []
    await writer.status({ conditions, synced: false })
  }
  if (context.kind.remove !== undefined) await writer.claim(knownIds(context.kind, project))
  const { conditions, status, events, drifted, again_after_ms, is_unobserved } =
    await context.kind.reconcile(resource, depsOf(run, project?.projectId ?? ''))
  if (drifted) context.onDrift(drifted)
  const all = [...conditions, ...boundsCondition(resource)]
  await writer.status({ conditions: all, own: status, synced: true, is_unobserved })
  await context.events.record(resource.meta, events ?? [])
  const resync_ms = resyncDelayMs(context, resource)
  return { type: 'again', after_ms: Math.min(again_after_ms ?? resync_ms, resync_ms) }
}

/**
 * Whether the status has the project, or an annotation suffices until the first reconcile ends. A
 * user may edit annotations, so the project is in the status before keys are minted in it, or
 * before the value of a Secret is stored in it: a withdrawal then finds them. An earlier withdrawal ends before the project is used again.
 */
function isProjectSafe({ context, cached }: Run, project: ProjectUsed | undefined): boolean {
  if (project === undefined) return true
  const { owns_secrets, reads_secrets } = context.kind
  const isPlain = owns_secrets === undefined && reads_secrets === undefined
  if (isPlain && cached.project.withdrawal === undefined) return true
  return isDeepStrictEqual(cached.project, project)
}

/** Returns the ids that are known before the first write to the service. */
function knownIds({ project: use }: Kind, project: ProjectUsed | undefined): KnownIds {
  if (project === undefined) return {}
  const { projectId: project_id } = project
  return { project_id, ...(use?.is_external_id && { external_id: project_id }) }
}

/** Removes the resource from the service, and only then its finalizer. */
async function removeFromService(run: Run, resource: Resource): Promise<Next> {
  const { context, cached, writer, decision } = run
  const granted = decision !== undefined && 'allowed' in decision ? decision.allowed : undefined
  const project_id = cached.project.projectId ?? granted?.project_id ?? ''
  const deps = depsOf(run, project_id)
  // With `Retain` keys would outlive the grace.
  if (isWithdrawn(run)) await context.kind.project?.withdraw(resource, deps)
  await context.kind.remove?.(resource, deps)
  const isKept = resource.spec.deletionPolicy === 'Retain'
  const note = isKept ? 'released: its objects stay in the service' : 'removed from the service'
  const reason = isKept ? 'Released' : 'Removed'
  await context.events.record(resource.meta, [{ type: 'Normal', reason, action: 'Remove', note }])
  await writer.removeFinalizer()
  return { type: 'rest' }
}

/** Writes the reason for doing nothing. A change of spec or annotations reconciles again. */
async function skip(
  { cached, writer, decision }: Run,
  reason: string,
  message: string,
): Promise<Next> {
  const { withdrawal, ...project } = cached.project
  const isOver = withdrawal !== undefined && decision !== undefined && 'allowed' in decision
  await writer.status({
    conditions: [readyCondition('Unknown', reason, message)],
    ...(isOver && { project }),
    synced: false,
  })
  return { type: 'rest' }
}

/** Writes a failure to the status, reports a new reason in one event, and returns the failure. */
async function reportFailure(
  context: ReconcileContext,
  writer: ResourceWriter,
  cached: CachedResource,
  error: unknown,
): Promise<Next> {
  const failure = classifyFailure(error)
  const resync_ms =
    cached.resource === undefined ? 600_000 : resyncDelayMs(context, cached.resource)
  const next = { type: 'failed', failure, resync_ms, error, is_new: true } as const
  const { reason, message } = failure
  if (reason === undefined) return next
  const before = writer.seen().conditions.find(({ type }) => type === 'Ready')
  try {
    await writer.status({ conditions: [readyCondition('False', reason, message)], synced: false })
  } catch (cause) {
    // The caller logs what could not be written to the status.
    return { ...next, error: new StatusNotWritten(error, cause) }
  }
  if (before?.reason === reason) return { ...next, is_new: false }
  const action = cached.deleting ? 'Remove' : 'Reconcile'
  await context.events.record(cached.meta, [{ type: 'Warning', reason, action, note: message }])
  return next
}

/** A reconcile failed, and writing that to the status failed too. */
class StatusNotWritten extends AggregateError {
  override readonly name = 'StatusNotWritten'

  constructor(error: unknown, cause: unknown) {
    const [first, second] = [error, cause].map((one) =>
      one instanceof Error ? one.message : String(one),
    )
    super([error, cause], `${first}; writing the status failed too: ${second}`)
  }
}

function depsOf({ context, cached, writer }: Run, project_id: string): ReconcileDeps {
  return {
    ...createDeps(context, cached.meta, project_id),
    rivals: () => context.access?.rivals(cached, project_id) ?? [],
    noteExternalId: writer.noteExternalId,
    removeAnnotation: writer.removeAnnotation,
  }
}

function readyCondition(
  status: ConditionDraft['status'],
  reason: string,
  message: string,
): ConditionDraft {
  return { type: 'Ready', status, reason, message }
}

/** Returns the condition about values beyond their bounds; none if there never was such a value. */
function boundsCondition({ warnings = [], status }: Resource): ConditionDraft[] {
  const type = 'WithinBounds'
  if (warnings.length > 0) {
    return [{ type, status: 'False', reason: 'OutOfBounds', message: warnings.join('; ') }]
  }
  const isKnown = status.conditions?.some((condition) => condition.type === type)
  const message = 'all values of the spec are within their bounds'
  return isKnown ? [{ type, status: 'True', reason: 'WithinBounds', message }] : []
}

function describeInvalidSpec({ spec_fault, deleting }: CachedResource): string {
  const more = deleting ? '; the deletion waits for a valid spec' : ''
  return `the spec is invalid (update the CRD if it is older than the operator): ${spec_fault}${more}`
}

/** Returns the resync period, 10 % more or less, so that resyncs spread over time. */
function resyncDelayMs({ timing }: ReconcileContext, { spec }: Resource): number {
  return Math.round(duration_ms(spec.resyncPeriod) * (0.9 + timing.random() * 0.2))
}
