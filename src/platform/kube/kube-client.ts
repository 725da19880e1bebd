/**
 * A client for the API server: a few verbs over any resource. Every call has a time limit and may
 * reject with an error of `errors.ts`.
 */
export type KubeClient = {
  /** Returns one page; `next` is the token of the following page. */
  list(resource: KubeResource, options: ListOptions): Promise<KubeList>
  /**
   * Yields changes after `resource_version`. Returns when the server ends the watch; rejects with
   * `KubeUnavailable` when the connection breaks and `KubeExpired` when the version is gone.
   */
  watch(resource: KubeResource, options: WatchOptions): AsyncIterable<WatchEvent>
  /** Rejects with `KubeNotFound` when the object does not exist. */
  read(resource: KubeResource, at: ObjectAt | ClusterObjectAt): Promise<KubeObject>
  create(resource: KubeResource, object: KubeDraft, options?: WriteOptions): Promise<KubeObject>
  /** Replaces the object at the version it carries; rejects with `KubeConflict` if it changed. */
  replace(resource: KubeResource, object: KubeDraft, options?: WriteOptions): Promise<KubeObject>
  /** Applies a JSON patch (RFC 6902); rejects with `KubeInvalid` when a `test` fails. */
  patch(
    resource: KubeResource,
    at: ObjectAt,
    operations: readonly JsonPatchOperation[],
  ): Promise<KubeObject>
  /** Server-side applies the fields of the object, forced, to the object or its subresource. */
  apply(
    resource: KubeResource,
    object: KubeDraft,
    options: { field_manager: string; subresource?: 'status' },
  ): Promise<KubeObject>
  /** Deletes the object if the preconditions hold; rejects with `KubeConflict` otherwise. */
  remove(
    resource: KubeResource,
    at: ObjectAt,
    preconditions: { uid: string; resource_version?: string },
  ): Promise<void>
}

/** `dry_run`: the server checks the write, with admission, and stores nothing. */
export type WriteOptions = { dry_run: true }

/** A resource type as URLs name it; the core group is ''. */
export type KubeResource = { group: string; version: string; plural: string }

/** The namespace and name of one object. The namespace of a cluster-scoped object is empty. */
export type ObjectAt = { namespace: string; name: string }

/** The name of one object that is in no namespace. */
type ClusterObjectAt = { name: string }

/** An object as the server sends it, without `managedFields`. */
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
  /** Empty for a cluster-scoped object. */
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

type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
}

/** An object to send; the server completes its metadata. */
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
  /** Metadata only: the server leaves out spec, data and status. */
  metadata_only?: boolean | undefined
  page_size: number
  next?: string | undefined
  signal?: AbortSignal
}

export type KubeList = {
  items: KubeObject[]
  /** The version from which to watch. */
  resource_version: string
  next: string | undefined
}

export type WatchOptions = {
  namespace?: string | undefined
  label_selector?: string | undefined
  metadata_only?: boolean | undefined
  resource_version: string
  /** The server ends the watch after this time. */
  timeout_ms: number
  signal: AbortSignal
}

/** A change, or a bookmark: all changes up to its version have been sent. */
export type WatchEvent =
  | { type: 'changed' | 'deleted'; object: KubeObject }
  | { type: 'bookmark'; resource_version: string }

export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }

/**
 * Removes `managedFields`, which is unused here and often more than half of an object, and gives a
 * cluster-scoped object an empty namespace. Changes the freshly parsed object in place.
 */
export function toKubeObject(
  object: KubeObject & { metadata: { managedFields?: unknown } },
): KubeObject {
  delete object.metadata.managedFields
  object.metadata.namespace ??= ''
  return object
}
