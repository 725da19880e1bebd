/**
 * The API server as the operator uses it: a few verbs over any resource. Every call may reject with
 * one of the errors of `errors.ts`, and is bounded in time.
 */
export type KubeClient = {
  /** One page; `next` is the token of the page after it. */
  list(resource: KubeResource, options: ListOptions): Promise<KubeList>
  /**
   * Changes after `resource_version`, until the server ends the watch (then it simply ends), the
   * connection breaks (`KubeUnavailable`) or the version is gone (`KubeExpired`).
   */
  watch(resource: KubeResource, options: WatchOptions): AsyncIterable<WatchEvent>
  /** Rejects with `KubeNotFound` when it is not there. */
  read(resource: KubeResource, at: ObjectAt): Promise<KubeObject>
  create(resource: KubeResource, object: KubeDraft): Promise<KubeObject>
  /** Replaces the version that the object carries; `KubeConflict` when it is no longer that. */
  replace(resource: KubeResource, object: KubeDraft): Promise<KubeObject>
  /** A JSON patch (RFC 6902); a `test` that fails is a `KubeInvalid`. */
  patch(
    resource: KubeResource,
    at: ObjectAt,
    operations: readonly JsonPatchOperation[],
  ): Promise<KubeObject>
  /** Server-side apply of just the fields in the object, forced, on a subresource if one is named. */
  apply(
    resource: KubeResource,
    object: KubeDraft,
    options: { field_manager: string; subresource?: 'status' },
  ): Promise<KubeObject>
  /** Deletes the object if it still is the one that is meant; `KubeConflict` otherwise. */
  remove(
    resource: KubeResource,
    at: ObjectAt,
    preconditions: { uid: string; resource_version?: string },
  ): Promise<void>
}

/** A kind of object as URLs name it; the core group is ''. */
export type KubeResource = { group: string; version: string; plural: string }

/** Where one object is. */
export type ObjectAt = { namespace: string; name: string }

/** An object as the server sends it. `managedFields` are left out. */
export type KubeObject = {
  apiVersion?: string
  kind?: string
  metadata: KubeMeta
  spec?: unknown
  status?: unknown
  data?: Record<string, string>
  type?: string
}

export type KubeMeta = {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
}

export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
}

/** What is sent: an object whose metadata the server completes. */
export type KubeDraft = {
  apiVersion: string
  kind: string
  metadata: Partial<KubeMeta> & { name: string; namespace: string }
  [field: string]: unknown
}

export type ListOptions = {
  /** All namespaces when left out. */
  namespace?: string | undefined
  label_selector?: string | undefined
  /** Names, labels and owners alone: the server leaves spec, data and status out. */
  metadata_only?: boolean | undefined
  page_size: number
  next?: string | undefined
  signal?: AbortSignal
}

export type KubeList = {
  items: KubeObject[]
  /** What a watch goes on from. */
  resource_version: string
  next: string | undefined
}

export type WatchOptions = {
  namespace?: string | undefined
  label_selector?: string | undefined
  metadata_only?: boolean | undefined
  resource_version: string
  /** The server ends the watch after that long. */
  timeout_ms: number
  signal: AbortSignal
}

/** A bookmark tells that all changes up to its version were sent; it has no object. */
export type WatchEvent =
  | { type: 'changed' | 'deleted'; object: KubeObject }
  | { type: 'bookmark'; resource_version: string }

export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }

/**
 * Drops who owns which field, which is often more than half of an object and which nobody here
 * reads. The object is one that was just parsed: it is changed in place.
 */
export function withoutManagedFields(
  object: KubeObject & { metadata: { managedFields?: unknown } },
): KubeObject {
  delete object.metadata.managedFields
  return object
}
