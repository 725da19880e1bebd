import { type KubeClient, ownedSecrets } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { type CommonSpec, duration_ms } from '../common-spec.ts'
import {
  apiVersion,
  type ConditionDraft,
  type Kind,
  NotReady,
  type ReconcileDeps,
  type Resource,
} from '../contract.ts'
import { annotations, finalizer, secretLabels, secretOwnerLabel } from '../names.ts'
import {
  type AllowedProjects,
  type ProjectRef,
  refuseForeignProject,
} from '../service/project-ref.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { CachedResource } from './cached-resource.ts'
import type { EventRecorder } from './event-recorder.ts'
import { type Failure, failureOf } from './failure.ts'
import type { ResourceCache } from './resource-cache.ts'
import { createResourceWriter, type ResourceWriter } from './resource-writer.ts'
import type { Timing } from './timing.ts'

/** What the reconciles of one kind work with. */
export type ReconcileContext = {
  kind: Kind
  kube: KubeClient
  service: ServiceClient
  cache: ResourceCache
  events: EventRecorder
  timing: Timing
  logger: Logger
  signal: AbortSignal
  list_page_size: number
  /** Which projects resources of a namespace may name. */
  projects: AllowedProjects | undefined
  /** Values that were put right. */
  onDrift: (count: number) => void
}

/** What comes after a reconcile. */
export type Next =
  /** Nothing, until it changes. */
  | { type: 'rest' }
  | { type: 'again'; after_ms: number }
  | { type: 'failed'; failure: Failure; resync_ms: number; error: unknown; is_news: boolean }

/**
 * One reconcile of one resource, from the top: hands off (paused), take back (deleted), refuse (a
 * spec of another version), leave (suspended), or: say that it is seen, put the finalizer on, let the
 * kind bring the service to the spec, write what it read back. Whatever is thrown on the way becomes
 * the status, and the caller's reason to come again.
 */
export async function reconcileResource(
  context: ReconcileContext,
  cached: CachedResource,
): Promise<Next> {
  const { kind, kube, cache, timing } = context
  const writer = createResourceWriter({ kind, kube, cache, timing, reconciled: cached })
  try {
    return await follow(context, cached, writer)
  } catch (error) {
    return await fail(context, writer, cached, error)
  }
}

async function follow(
  context: ReconcileContext,
  cached: CachedResource,
  writer: ResourceWriter,
): Promise<Next> {
  if (cached.deleting && !cached.finalizers.includes(finalizer)) return { type: 'rest' }
  if (cached.paused) {
    const what = cached.deleting ? 'the deletion waits' : 'nothing is reconciled'
    return leave(writer, 'Paused', `${what} while ${annotations.paused} is "true"`)
  }
  if (cached.resource === undefined) throw new NotReady('InvalidSpec', invalidSpec(cached))
  if (cached.deleting) return takeBack(context, cached.resource, writer)
  if (cached.resource.spec.suspend) {
    return leave(writer, 'Suspended', 'nothing is reconciled while spec.suspend is true')
  }
  return bring(context, cached.resource, writer)
}

/** Brings the service to the spec, and the status to what was then read there. */
async function bring(
  context: ReconcileContext,
  resource: Resource,
  writer: ResourceWriter,
): Promise<Next> {
  // An older CRD puts nothing there by itself.
  if (!writer.seen().is_told) {
    const conditions = [ready('Unknown', 'Reconciling', 'the service was not asked yet')]
    await writer.status({ conditions, synced: false })
  }
  refuseForeignProject(context.projects, {
    namespace: resource.meta.namespace,
    projectRef: projectRefOf(resource.spec),
  })
  await writer.addFinalizer()
  const { conditions, status, events, drifted, again_after_ms } = await context.kind.reconcile(
    resource,
    depsOf(context, resource, writer),
  )
  if (drifted) context.onDrift(drifted)
  await writer.status({ conditions, own: status, synced: true })
  await context.events.record(resource.meta, events ?? [])
  const resync_ms = resyncOf(context, resource)
  return { type: 'again', after_ms: Math.min(again_after_ms ?? resync_ms, resync_ms) }
}

/** Kinds are about a project; one that is not has no such field. */
function projectRefOf(spec: CommonSpec & { projectRef?: ProjectRef }): ProjectRef | undefined {
  return spec.projectRef
}

/** Takes back what was made, then lets the resource go: in this order, whatever happens. */
async function takeBack(
  context: ReconcileContext,
  resource: Resource,
  writer: ResourceWriter,
): Promise<Next> {
  await context.kind.remove(resource, depsOf(context, resource, writer))
  const isKept = resource.spec.deletionPolicy === 'Retain'
  const note = isKept ? 'the service keeps what it declared' : 'the service has nothing of it left'
  const reason = isKept ? 'Released' : 'Removed'
  await context.events.record(resource.meta, [{ type: 'Normal', reason, action: 'Remove', note }])
  await writer.removeFinalizer()
  return { type: 'rest' }
}

/** Says why nothing is done; a change of spec or annotations brings it back. */
async function leave(writer: ResourceWriter, reason: string, message: string): Promise<Next> {
  await writer.status({ conditions: [ready('Unknown', reason, message)], synced: false })
  return { type: 'rest' }
}

/** Writes why it failed, tells it once in an event, and passes it on. */
async function fail(
  context: ReconcileContext,
  writer: ResourceWriter,
  cached: CachedResource,
  error: unknown,
): Promise<Next> {
  const failure = failureOf(error)
  const resync_ms = cached.resource === undefined ? 600_000 : resyncOf(context, cached.resource)
  const next = { type: 'failed', failure, resync_ms, error, is_news: true } as const
  const { reason, message } = failure
  if (reason === undefined) return next
  const before = writer.seen().conditions.find(({ type }) => type === 'Ready')
  try {
    await writer.status({ conditions: [ready('False', reason, message)], synced: false })
  } catch (cause) {
    // What can't be told in the status is told in the log, by the caller.
    return { ...next, error: new StatusNotWritten(error, cause) }
  }
  if (before?.reason === reason) return { ...next, is_news: false }
  const action = cached.deleting ? 'Remove' : 'Reconcile'
  await context.events.record(cached.meta, [{ type: 'Warning', reason, action, note: message }])
  return next
}

/** A reconcile failed, and so did the writing of that into the status. */
class StatusNotWritten extends AggregateError {
  override readonly name = 'StatusNotWritten'

  constructor(error: unknown, cause: unknown) {
    const [first, second] = [error, cause].map((one) =>
      one instanceof Error ? one.message : String(one),
    )
    super([error, cause], `${first}; and its status could not be written: ${second}`)
  }
}

function depsOf(
  context: ReconcileContext,
  { meta }: Resource,
  writer: ResourceWriter,
): ReconcileDeps {
  const { service, kube, cache, timing, logger, signal, list_page_size: page_size } = context
  const { kind, namespace, name, uid } = meta
  return {
    service,
    signal,
    clock: timing.clock,
    peers: cache.peers,
    peersAbout: cache.peersAbout,
    noteExternalId: writer.noteExternalId,
    logger: logger.child({ kind, resource: `${namespace}/${name}` }),
    secrets: ownedSecrets(kube, {
      owner: { apiVersion, kind, namespace, name, uid },
      labels: secretLabels,
      owner_label: secretOwnerLabel,
      page_size,
    }),
  }
}

function ready(status: ConditionDraft['status'], reason: string, message: string): ConditionDraft {
  return { type: 'Ready', status, reason, message }
}

function invalidSpec({ spec_fault, deleting }: CachedResource): string {
  const more = deleting ? '; what it made can not be taken back until its spec is valid' : ''
  return `the spec is none of this operator's version (is its CRD older?): ${spec_fault}${more}`
}

/** A tenth more or less, so that resources that came together do not stay together. */
function resyncOf({ timing }: ReconcileContext, { spec }: Resource): number {
  return Math.round(duration_ms(spec.resyncPeriod) * (0.9 + timing.random() * 0.2))
}
