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
import { type CachedResource, cachedResource } from './cached-resource.ts'
import type { ResourceCache } from './resource-cache.ts'
import type { Timing } from './timing.ts'

/** The writes to one resource in the course of one reconcile. */
export type ResourceWriter = {
  /** As it was last read or written. */
  seen(): CachedResource
  /** Writes the status when it is not the one that stands there. */
  status(draft: StatusDraft): Promise<void>
  addFinalizer(): Promise<void>
  removeFinalizer(): Promise<void>
  noteExternalId(id: string): Promise<void>
}

/** The resource of a kind, as URLs name it. */
export function resourceOf(kind: Pick<Kind, 'plural'>): KubeResource {
  return { group: apiGroup, version: 'v1alpha1', plural: kind.plural }
}

/**
 * Writes go out with the uid of what was reconciled: another resource that took its name meanwhile
 * is a conflict. Status and annotation are applied (server-side apply, KEP-555), so that fields of
 * others stay; the answers go to the cache.
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
  const note = (object: KubeObject): CachedResource => {
    cache.written(object)
    seen = cachedResource(kind, object)
    return seen
  }
  const apply = (fields: object, metadata: object, subresource?: 'status') => {
    const draft = { apiVersion, kind: kind.kind, metadata: { ...at, uid, ...metadata }, ...fields }
    const to = { field_manager: fieldManager, ...(subresource && { subresource }) }
    return kube.apply(resource, draft, to)
  }
  const patcher: Patcher = {
    patch: async (operations) => note(await kube.patch(resource, at, operations)),
    reread: async () => note(await kube.read(resource, at)),
  }
  return {
    seen: () => seen,
    status: async (draft) => {
      const now_ms = timing.clock.now_ms()
      const status = nextStatus(seen.status, draft, { generation, now_ms })
      if (status !== undefined) note(await apply({ status }, {}, 'status'))
    },
    addFinalizer: async () => void (await addFinalizer(seen, patcher)),
    removeFinalizer: async () => void (await removeFinalizer(seen, patcher)),
    noteExternalId: async (id) => {
      if (seen.meta.external_id === id) return
      note(await apply({}, { annotations: { [annotations.external_id]: id } }))
    },
  }
}

/** A patch of a resource, and a fresh look at it when the patch does not fit any more. */
export type Patcher = {
  patch(operations: readonly JsonPatchOperation[]): Promise<CachedResource>
  reread(): Promise<CachedResource>
}

/** Whoever changes a resource five times while we try is met at the next reconcile. */
const tries_max = 5

/**
 * Puts our finalizer on a resource, before anything is made in the service: from then on the
 * resource can't go without that being taken back.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
export function addFinalizer(seen: CachedResource, patcher: Patcher): Promise<CachedResource> {
  return patched(seen, patcher, ({ finalizers, meta, resource_version }) => {
    if (finalizers.includes(finalizer)) return undefined
    return [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      // The list is written whole: it must be the one that was seen.
      { op: 'test', path: '/metadata/resourceVersion', value: resource_version },
      { op: 'add', path: '/metadata/finalizers', value: [...finalizers, finalizer] },
    ]
  })
}

/**
 * Takes our finalizer off, and no other: `test` and `remove` of one place in the list, so that a
 * list that changed meanwhile is read again instead of losing somebody else's.
 */
export function removeFinalizer(seen: CachedResource, patcher: Patcher): Promise<CachedResource> {
  return patched(seen, patcher, ({ finalizers, meta }) => {
    const index = finalizers.indexOf(finalizer)
    if (index === -1) return undefined
    return [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      { op: 'test', path: `/metadata/finalizers/${index}`, value: finalizer },
      { op: 'remove', path: `/metadata/finalizers/${index}` },
    ]
  })
}

async function patched(
  seen: CachedResource,
  patcher: Patcher,
  operationsFor: (seen: CachedResource) => readonly JsonPatchOperation[] | undefined,
): Promise<CachedResource> {
  let now = seen
  for (let tries = 1; ; tries += 1) {
    const operations = operationsFor(now)
    if (operations === undefined) return now
    try {
      return await patcher.patch(operations)
    } catch (error) {
      const isStale = error instanceof KubeInvalid || error instanceof KubeConflict
      if (!isStale || tries >= tries_max) throw error
      now = await patcher.reread()
      if (now.meta.uid !== seen.meta.uid) throw error
    }
  }
}

/** What stands in the status of a resource, of any kind. */
export type WrittenStatus = Readonly<Record<string, unknown>> & {
  conditions: readonly Condition[]
  observedGeneration: number
}

export type StatusDraft = {
  conditions: readonly ConditionDraft[]
  /** The kind's own fields; left out, those that stand there stay. */
  own?: object | undefined
  /** The service was read and compared. */
  synced: boolean
}

/** A message is for people; the CRD takes no longer one than metav1.Condition does. */
const message_characters_max = 4_096

/**
 * The status to write, or undefined when it is what stands there: a resync that finds all as it was
 * writes nothing. `lastTransitionTime` changes with a condition's status alone (metav1.Condition);
 * conditions that the draft does not have stay as they are, but for their age.
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
  const own = draft.own ?? ownBefore
  const isSame =
    before['observedGeneration'] === generation &&
    isDeepStrictEqual(conditions, old) &&
    isDeepStrictEqual(asStored(own), asStored(ownBefore))
  if (isSame) return undefined
  const synced = draft.synced ? now : lastSyncTime
  return {
    ...own,
    ...(synced !== undefined && { lastSyncTime: synced }),
    observedGeneration: generation,
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

/** The conditions of a status, in the order of their types. */
function conditionsIn(status: Readonly<Record<string, unknown>>): Condition[] {
  const { conditions } = status
  return Array.isArray(conditions)
    ? conditions.map((condition) => ({ ...condition })).toSorted(byType)
    : []
}

function byType(a: Condition, b: Condition): number {
  return a.type < b.type ? -1 : 1
}

/** As the API server keeps it: it may drop a null, which means the same as nothing there. */
function asStored(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_key, part) => part ?? undefined))
}

/** metav1.Time: whole seconds. */
function secondsTime(now_ms: number): string {
  return new Date(now_ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
