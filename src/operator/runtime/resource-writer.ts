import {
  type JsonPatchOperation,
  type KubeClient,
  KubeConflict,
  KubeInvalid,
  type KubeObject,
  type KubeResource,
} from '../../platform/kube/index.ts'
import { apiGroup, apiVersion, type Kind } from '../contract.ts'
import { annotations, fieldManager, finalizer } from '../names.ts'
import { withProgress } from '../ready-condition.ts'
import type { ProjectStatus } from '../tenancy/project-use.ts'
import { type CachedResource, toCachedResource } from './cached-resource.ts'
import { endedProgress, nextStatus, type StatusDraft } from './next-status.ts'
import type { ResourceCache } from './resource-cache.ts'
import type { Timing } from './timing.ts'

/** The writes of one reconcile to its resource. */
export type ResourceWriter = {
  /** Returns the resource as last read or written. */
  seen(): CachedResource
  /** Writes the status if it differs from the current one. */
  status(draft: StatusDraft): Promise<void>
  /**
   * Sets the project that every following status has, unless its draft names another. Writes
   * nothing.
   */
  useProject(project: ProjectStatus | undefined): void
  /** Adds the finalizer and the ids that are known before the first write to the service. */
  claim(ids: KnownIds): Promise<void>
  removeFinalizer(): Promise<void>
  noteExternalId(id: string): Promise<void>
  removeAnnotation(name: string, value: string): Promise<void>
}

/** Ids in annotations, which survive the loss of the status. */
export type KnownIds = { external_id?: string; project_id?: string }

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
  let project: ProjectStatus | undefined
  const writeStatus = async (draft: StatusDraft) => {
    const now_ms = timing.clock.now_ms()
    const status = nextStatus(seen.status, { project, ...draft }, { generation, now_ms })
    if (status !== undefined) store(await apply({ status }, {}, 'status'))
  }
  const patcher: Patcher = {
    patch: async (operations) => store(await kube.patch(resource, at, operations)),
    reread: async () => store(await kube.read(resource, at)),
  }
  return {
    seen: () => seen,
    status: async (draft) => {
      const conditions = withProgress(kind, draft.conditions)
      await writeStatus({ ...draft, conditions })
      const ended = endedProgress(seen.conditions, conditions)
      if (ended.length > 0) {
        await writeStatus({ ...draft, conditions: [...conditions, ...ended] })
      }
    },
    useProject: (next) => {
      project = next
    },
    claim: async (ids) => void (await addFinalizer(seen, patcher, ids)),
    removeFinalizer: async () => void (await removeFinalizer(seen, patcher)),
    noteExternalId: async (external_id) => {
      if (seen.meta.external_id === external_id) return
      // An apply removes the fields that it leaves out, so it has both annotations.
      const ids = toAnnotations({ ...seen.meta, external_id })
      store(await apply({}, { annotations: ids }))
    },
    removeAnnotation: async (annotation, value) =>
      void (await removeAnnotation(seen, patcher, { annotation, value })),
  }
}

function toAnnotations({
  external_id,
  project_id,
}: {
  external_id?: string | undefined
  project_id?: string | undefined
}): Record<string, string> {
  return {
    ...(external_id !== undefined && { [annotations.external_id]: external_id }),
    ...(project_id !== undefined && { [annotations.project_id]: project_id }),
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
 * be deleted before its objects in the service are. The same patch writes the known ids.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
 */
export function addFinalizer(
  seen: CachedResource,
  patcher: Patcher,
  ids: KnownIds = {},
): Promise<CachedResource> {
  return patchWithRetries(seen, patcher, (current) => {
    const { finalizers, meta, resource_version } = current
    const changes: JsonPatchOperation[] = finalizers.includes(finalizer)
      ? []
      : [{ op: 'add', path: '/metadata/finalizers', value: [...finalizers, finalizer] }]
    changes.push(...annotate(current, toAnnotations(ids)))
    if (changes.length === 0) return undefined
    return [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      // The whole list is written, so it must be unchanged since it was read.
      { op: 'test', path: '/metadata/resourceVersion', value: resource_version },
      ...changes,
    ]
  })
}

/** Returns the operations that set annotations and keep all others. */
function annotate(
  { meta, has_annotations }: CachedResource,
  wanted: Readonly<Record<string, string>>,
): JsonPatchOperation[] {
  const missing = Object.entries(wanted).filter(([name, value]) => meta.annotations[name] !== value)
  if (missing.length === 0) return []
  if (!has_annotations) {
    return [{ op: 'add', path: '/metadata/annotations', value: Object.fromEntries(missing) }]
  }
  return missing.map(([name, value]) => ({
    op: 'add',
    path: `/metadata/annotations/${name.replaceAll('/', '~1')}`,
    value,
  }))
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
