import type { KubeClient, KubeObject, KubeResource } from '../platform/kube/index.ts'
import { type CachedResource, cachedResource } from './cached-resource.ts'
import { apiGroup, apiVersion, type Kind } from './contract.ts'
import { addFinalizer, type Patcher, removeFinalizer } from './finalizer.ts'
import { annotations, fieldManager } from './names.ts'
import { nextStatus, type StatusDraft } from './next-status.ts'
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
