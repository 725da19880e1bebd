import { type KubeClient, KubeNotFound, type KubeObject } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import type { EventDraft, Kind, OwnedObject } from '../contract.ts'
import { type Installation, readCluster } from '../installation.ts'
import { finalizer } from '../names.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { CachedResource } from './cached-resource.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { OperatorSettings } from './operator-settings.ts'
import type { ProjectAccess } from './project-access.ts'
import { classOf } from './resource-cache.ts'
import { resourceOf } from './resource-writer.ts'
import type { Timing } from './timing.ts'

/** A search for objects in the service whose resource is gone. */
export type OrphanSweep = {
  /** Searches in intervals until the signal aborts. Call it when all caches have synced. */
  run(signal: AbortSignal): Promise<void>
  /** Returns the number of orphans whose grace has not ended. */
  waiting(): number
}

export type OrphanSweepOptions = {
  kind: Kind
  /** Returns the cached resource of `namespace/name`, of the operator's class. */
  find(key: string): CachedResource | undefined
  access: Pick<ProjectAccess, 'decide'>
  kube: KubeClient
  service: ServiceClient
  installation: () => Installation | undefined
  timing: Timing
  logger: Logger
  settings: Pick<OperatorSettings, 'namespaces' | 'class_name' | 'orphan_grace_ms'>
  events: EventRecorder
  /** Resolves when this process may write, or the signal aborts. */
  whenAllowed(signal: AbortSignal): Promise<void>
  /** Ends the use of the project by an object whose resource is gone. */
  withdraw(orphan: OwnedObject): Promise<void>
  onRevoked(): void
}

/** Searches per grace: an orphan is revoked at most a sixth of the grace late. */
const rounds_per_grace = 6

/**
 * Creates the sweep of a kind with `listOwned`. A resource whose finalizer was removed by hand
 * leaves keys that no reconcile finds. The sweep revokes them once the resource was missing for the
 * whole grace in every search. A search that fails revokes nothing: an object counts as an orphan
 * only if the API server of the same cluster lists the kind and answers 404 for its resource. The
 * grace starts again when another process leads.
 */
export function createOrphanSweep(options: OrphanSweepOptions): OrphanSweep {
  const { kind, timing, logger, settings } = options
  const logFailure = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    logger.warn({ kind: kind.kind, reason }, 'searching for orphans failed: nothing is revoked')
  }
  const missing_since_ms = new Map<string, number>()

  const examine = async (suspect: OwnedObject) => {
    const { id } = suspect
    const now_ms = timing.clock.now_ms()
    const since_ms = missing_since_ms.get(id)
    if (!(await isGone(options, suspect))) missing_since_ms.delete(id)
    else if (since_ms === undefined) {
      missing_since_ms.set(id, now_ms)
      await announce(options, suspect)
    } else if (now_ms - since_ms >= settings.orphan_grace_ms) {
      await revoke(options, suspect)
      missing_since_ms.delete(id)
    }
  }
  const round = async (signal: AbortSignal) => {
    const suspects = await findSuspects(options)
    const ids = new Set(suspects.map(({ id }) => id))
    for (const id of [...missing_since_ms.keys()]) if (!ids.has(id)) missing_since_ms.delete(id)
    for (const suspect of suspects) {
      if (signal.aborted) return
      // One that cannot be examined must not keep the others.
      await examine(suspect).catch(logFailure)
    }
  }
  return {
    waiting: () => missing_since_ms.size,
    run: async (signal) => {
      while (!signal.aborted && kind.project?.listOwned !== undefined) {
        await options.whenAllowed(signal)
        if (signal.aborted) return
        await round(signal).catch(logFailure)
        await timing.sleep(settings.orphan_grace_ms / rounds_per_grace, signal)
      }
    },
  }
}

/** Returns the objects for which no cached resource accounts. */
async function findSuspects(options: OrphanSweepOptions): Promise<OwnedObject[]> {
  const installation = options.installation()
  if (installation === undefined) return []
  const owned = await options.kind.project?.listOwned?.(options.service, installation.id)
  const suspects = (owned ?? []).filter((one) => isSuspect(options, installation, one))
  if (suspects.length === 0) return []
  // An API server that lost its data has another uid.
  if ((await readCluster(options.kube)) === installation.cluster) return suspects
  throw new OtherCluster('the API server is of another cluster than at the start')
}

class OtherCluster extends Error {
  override readonly name = 'OtherCluster'
}

/**
 * Whether an object is of this installation and of a watched namespace, and no cached resource
 * accounts for it: neither its owner nor another of that name that may use the same project, as
 * after a restore from a backup.
 */
function isSuspect(
  { kind, find, access, settings: { namespaces } }: OrphanSweepOptions,
  installation: Installation,
  { project_id, owner }: OwnedObject,
): boolean {
  if (owner.kind !== kind.kind || owner.installation !== installation.id) return false
  if (namespaces.length > 0 && !namespaces.includes(owner.namespace)) return false
  const cached = find(`${owner.namespace}/${owner.name}`)
  if (cached === undefined) return true
  if (cached.meta.uid === owner.uid) return cached.deleting && isLetGo(cached.finalizers)
  const decision = access.decide(cached)
  if ('unknown' in decision) return false
  return !('allowed' in decision && decision.allowed.project_id === project_id)
}

/**
 * Whether the API server reports that the owner does not exist, or ends without us. A 404 alone may mean that the kind
 * is not served, so the kind is listed too.
 */
async function isGone(options: OrphanSweepOptions, { owner }: OwnedObject): Promise<boolean> {
  const { kind, kube, find, settings } = options
  const { namespace, name } = owner
  const resource = resourceOf(kind)
  const isEverywhere = settings.namespaces.length === 0
  await kube.list(resource, { namespace: isEverywhere ? undefined : namespace, page_size: 1 })
  const found = await readIfExists(kube.read(resource, { namespace, name }))
  if (found === undefined) return true
  const { uid, deletionTimestamp, finalizers = [] } = found.metadata
  if (uid === owner.uid) return deletionTimestamp !== undefined && isLetGo(finalizers)
  // The cache may not have a resource of this class yet; with it, the resource was judged before.
  return classOf(found) !== settings.class_name || find(`${namespace}/${name}`) !== undefined
}

/** Whether our finalizer was removed, so that no reconcile removes the objects of a deleted resource. */
function isLetGo(finalizers: readonly string[]): boolean {
  return !finalizers.includes(finalizer)
}

async function readIfExists(read: Promise<KubeObject>): Promise<KubeObject | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof KubeNotFound) return undefined
    throw error
  }
}

async function announce(options: OrphanSweepOptions, orphan: OwnedObject): Promise<void> {
  const minutes = Math.ceil(options.settings.orphan_grace_ms / 60_000)
  const { kind, namespace, name } = orphan.owner
  const note = `${kind} ${namespace}/${name} is gone, and its keys are live: its finalizer was removed by hand. They are revoked in ${minutes} min, unless the resource is applied again`
  await report(options, orphan, { reason: 'Orphaned', note })
}

async function revoke(options: OrphanSweepOptions, orphan: OwnedObject): Promise<void> {
  await options.withdraw(orphan)
  options.onRevoked()
  const { kind, namespace, name } = orphan.owner
  const note = `the keys of ${kind} ${namespace}/${name} are revoked, because the resource is gone`
  await report(options, orphan, { reason: 'OrphanRevoked', note })
}

async function report(
  { events, logger }: OrphanSweepOptions,
  { id, project_id, owner }: OwnedObject,
  { reason, note }: Pick<EventDraft, 'reason' | 'note'>,
): Promise<void> {
  logger.warn({ id, project_id, resource: `${owner.namespace}/${owner.name}`, reason }, note)
  await events.record(owner, [{ type: 'Warning', reason, action: 'SweepOrphans', note }])
}
