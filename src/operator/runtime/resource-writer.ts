import { isDeepStrictEqual } from 'node:util'
import {
  type JsonPatchOperation,
  type KubeClient,
  KubeConflict,
  KubeInvalid,
  type KubeObject,
  type KubeResource,
} from '../../platform/kube/index.ts'
import {
  apiGroup,
  apiVersion,
  type Condition,
  type ConditionDraft,
  type Kind,
} from '../contract.ts'
import { annotations, fieldManager, finalizer } from '../names.ts'
import type { ProjectStatus } from '../tenancy/project-use.ts'
import { type CachedResource, toCachedResource, withoutProject } from './cached-resource.ts'
import type { ResourceCache } from './resource-cache.ts'
import type { Timing } from './timing.ts'

/** The writes of one reconcile to its resource. */
export type ResourceWriter = {
  /** Returns the resource as last read or written. */
  seen(): CachedResource
  /** Writes the status if it differs from the current one. */
  status(draft: StatusDraft): Promise<void>
  addFinalizer(): Promise<void>
  removeFinalizer(): Promise<void>
  noteExternalId(id: string): Promise<void>
  /** Writes the project to the annotation, which survives the loss of the status. */
  noteProject(id: string): Promise<void>
  removeAnnotation(name: string, value: string): Promise<void>
}

/** Returns the resource type of a kind, as URLs name it. */
export function resourceOf(kind: Pick<Kind, 'plural'>): KubeResource {
  return { group: apiGroup, version: 'v1alpha1', plural: kind.plural }
}

/**
 * Creates a writer for one reconcile. Writes carry the uid of the reconciled resource, so that they
 * conflict with a new resource of the same name. Status and annotation use server-side apply
 * (KEP-555), which keeps the fields of others. The answers go to the cache.
 */
export function createResourceWriter(options: {
  kind: Kind
  kube: KubeClient
  cache: ResourceCache
  timing: Timing
  reconciled: CachedResource
}): ResourceWriter {
  const { kind, kube, cache, timing, reconciled } = options
  const { name, namespace, uid, generation } = reconciled.meta
  const resource = resourceOf(kind)
  const at = { namespace, name }
  let seen = reconciled
  const store = (object: KubeObject): CachedResource => {
    cache.written(object)
    seen = toCachedResource(kind, object)
    return seen
  }
  const apply = (fields: object, metadata: object, subresource?: 'status') => {
    const draft = { apiVersion, kind: kind.kind, metadata: { ...at, uid, ...metadata }, ...fields }
    const to = { field_manager: fieldManager, ...(subresource && { subresource }) }
    return kube.apply(resource, draft, to)
  }
  /** Applies both annotations, because an apply removes the fields that it leaves out. */
  const note = async (next: { external_id?: string; project_id?: string }) => {
    const { external_id, project_id } = { ...seen.meta, ...next }
    const ids = {
      ...(external_id !== undefined && { [annotations.external_id]: external_id }),
      ...(project_id !== undefined && { [annotations.project_id]: project_id }),
    }
    store(await apply({}, { annotations: ids }))
  }
  const patcher: Patcher = {
    patch: async (operations) => store(await kube.patch(resource, at, operations)),
    reread: async () => store(await kube.read(resource, at)),
  }
  return {
    seen: () => seen,
    status: async (draft) => {
      const now_ms = timing.clock.now_ms()
      const status = nextStatus(seen.status, draft, { generation, now_ms })
      if (status !== undefined) store(await apply({ status }, {}, 'status'))
    },
    addFinalizer: async () => void (await addFinalizer(seen, patcher)),
    removeFinalizer: async () => void (await removeFinalizer(seen, patcher)),
    noteExternalId: async (external_id) => {
      if (seen.meta.external_id !== external_id) await note({ external_id })
    },
    noteProject: async (project_id) => {
      if (seen.meta.project_id !== project_id) await note({ project_id })
    },
    removeAnnotation: async (annotation, value) =>
      void (await removeAnnotation(seen, patcher, { annotation, value })),
  }
}

/** Patches a resource, and reads it again when the patch no longer applies. */
export type Patcher = {
  patch(operations: readonly JsonPatchOperation[]): Promise<CachedResource>
  reread(): Promise<CachedResource>
}

/** Attempts to patch a resource that changes meanwhile; then the next reconcile continues. */
const attempts_max = 5

/**
 * Adds the operator's finalizer before the first write to the service, so that the resource can't
 * be deleted before its objects in the service are.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
export function addFinalizer(seen: CachedResource, patcher: Patcher): Promise<CachedResource> {
  return patchWithRetries(seen, patcher, ({ finalizers, meta, resource_version }) => {
    if (finalizers.includes(finalizer)) return undefined
    return [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      // The whole list is written, so it must be unchanged since it was read.
      { op: 'test', path: '/metadata/resourceVersion', value: resource_version },
      { op: 'add', path: '/metadata/finalizers', value: [...finalizers, finalizer] },
    ]
  })
}

/**
 * Removes the operator's finalizer and no other: a `test` and a `remove` of one list index, so that
 * a changed list is read again instead of losing another finalizer.
 */
export function removeFinalizer(seen: CachedResource, patcher: Patcher): Promise<CachedResource> {
  return patchWithRetries(seen, patcher, ({ finalizers, meta }) => {
    const index = finalizers.indexOf(finalizer)
    if (index === -1) return undefined
    return [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      { op: 'test', path: `/metadata/finalizers/${index}`, value: finalizer },
      { op: 'remove', path: `/metadata/finalizers/${index}` },
    ]
  })
}

/** Removes an annotation if it has this value; a new value is kept. */
function removeAnnotation(
  seen: CachedResource,
  patcher: Patcher,
  { annotation, value }: { annotation: string; value: string },
): Promise<CachedResource> {
  const path = `/metadata/annotations/${annotation.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return patchWithRetries(seen, patcher, ({ meta }) => {
    if (meta.annotations[annotation] !== value) return undefined
    return [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      { op: 'test', path, value },
      { op: 'remove', path },
    ]
  })
}

async function patchWithRetries(
  seen: CachedResource,
  patcher: Patcher,
  operationsFor: (seen: CachedResource) => readonly JsonPatchOperation[] | undefined,
): Promise<CachedResource> {
  let current = seen
  for (let attempts = 1; ; attempts += 1) {
    const operations = operationsFor(current)
    if (operations === undefined) return current
    try {
      return await patcher.patch(operations)
    } catch (error) {
      const isStale = error instanceof KubeInvalid || error instanceof KubeConflict
      if (!isStale || attempts >= attempts_max) throw error
      current = await patcher.reread()
      if (current.meta.uid !== seen.meta.uid) throw error
    }
  }
}

/** The status of a resource of any kind. */
export type WrittenStatus = Readonly<Record<string, unknown>> & {
  conditions: readonly Condition[]
  observedGeneration: number
}

export type StatusDraft = {
  conditions: readonly ConditionDraft[]
  /** The kind's own fields; the current ones stay if left out. */
  own?: object | undefined
  /** The project of a kind with `projectRef`; the current one stays if left out. */
  project?: ProjectStatus | undefined
  /** Whether the service was read and compared. */
  synced: boolean
}

/** Bounds messages below the limit of metav1.Condition, which the CRD has. */
const message_characters_max = 4_096

/**
 * Returns the status to write, or undefined if it equals the current one, so that a resync without
 * changes writes nothing. `lastTransitionTime` changes only with a condition's status
 * (metav1.Condition). Conditions that the draft lacks are kept.
 */
export function nextStatus(
  before: Readonly<Record<string, unknown>>,
  draft: StatusDraft,
  { generation, now_ms }: { generation: number; now_ms: number },
): WrittenStatus | undefined {
  const now = secondsTime(now_ms)
  const old = conditionsIn(before)
  const { conditions: _c, observedGeneration: _g, lastSyncTime, ...ownBefore } = before
  const conditions = mergeConditions(old, draft.conditions, { generation, now })
  const fields = draft.own ?? ownBefore
  const own =
    draft.project === undefined ? fields : { ...withoutProject({ ...fields }), ...draft.project }
  // Without a condition about it, the generation has not been reconciled yet.
  const isObserved = draft.conditions.length > 0 || before['observedGeneration'] === undefined
  const observedGeneration = isObserved ? generation : Number(before['observedGeneration'])
  const isSame =
    before['observedGeneration'] === observedGeneration &&
    isDeepStrictEqual(conditions, old) &&
    isDeepStrictEqual(asStored(own), asStored(ownBefore))
  if (isSame) return undefined
  const synced = draft.synced ? now : lastSyncTime
  return {
    ...own,
    ...(synced !== undefined && { lastSyncTime: synced }),
    observedGeneration,
    conditions,
  }
}

function mergeConditions(
  old: readonly Condition[],
  drafts: readonly ConditionDraft[],
  { generation, now }: { generation: number; now: string },
): Condition[] {
  const named = new Set(drafts.map(({ type }) => type))
  const kept = old.filter(({ type }) => !named.has(type))
  const fresh = drafts.map(({ type, status, reason, message }) => {
    const was = old.find((condition) => condition.type === type)
    const lastTransitionTime = was?.status === status ? was.lastTransitionTime : now
    const text = message.slice(0, message_characters_max)
    const observedGeneration = generation
    return { type, status, reason, message: text, lastTransitionTime, observedGeneration }
  })
  return [...kept, ...fresh].toSorted(byType)
}

/** Returns the conditions of a status, sorted by type. */
function conditionsIn(status: Readonly<Record<string, unknown>>): Condition[] {
  const { conditions } = status
  return Array.isArray(conditions)
    ? conditions.map((condition) => ({ ...condition })).toSorted(byType)
    : []
}

function byType(a: Condition, b: Condition): number {
  return a.type < b.type ? -1 : 1
}

/** Converts a value to its stored form; the API server may drop nulls. */
function asStored(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_key, part) => part ?? undefined))
}

/** Formats a time as metav1.Time, in whole seconds. */
function secondsTime(now_ms: number): string {
  return new Date(now_ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
