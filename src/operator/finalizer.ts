import { type JsonPatchOperation, KubeConflict, KubeInvalid } from '../platform/kube/index.ts'
import type { CachedResource } from './cached-resource.ts'
import { finalizer } from './names.ts'

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
