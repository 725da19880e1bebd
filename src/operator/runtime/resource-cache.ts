import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../platform/kube/index.ts'
import { defaultClass } from '../common-spec.ts'
import type { Kind, Resource } from '../contract.ts'
import { annotations } from '../names.ts'
import { type CachedResource, toCachedResource } from './cached-resource.ts'
import type { ReflectorSink } from './reflector.ts'

/** The resources of one kind, as last read. */
export type ResourceCache = {
  get(key: string): CachedResource | undefined
  keys(): readonly string[]
  /** Returns the resources with a valid spec. */
  peers(): readonly Resource[]
  /** Returns the resources whose project has one of the terms (`idTerm`, `nameTerm`). */
  find(terms: readonly string[]): readonly CachedResource[]
  inNamespace(namespace: string): readonly CachedResource[]
  /** Returns the keys of resources that are not Ready. */
  notReady(): string[]
  size(): number
  /** Removes a resource that is no longer served. */
  evict(key: string): void
  /**
   * Stores the API server's answer to our own write, so that the echo of the write is ignored and
   * the next reconcile starts from the new version.
   */
  written(object: KubeObject): void
  /** Returns a sink for the reflector of one namespace (undefined: all namespaces). */
  sink(namespace: string | undefined): ReflectorSink
}

/** `onChange` is called with the key of a resource to reconcile. */
export type CacheOptions = {
  onChange: (key: string) => void
  onStored?: OnStored
  /** Class of the resources that are kept. */
  class_name?: string
}

/**
 * Creates a cache that keeps slim resources with a parsed spec. It reports a key when the change is
 * relevant to a reconcile: the resource is new, or its generation, deletion or annotations changed,
 * or its status was lost. Other changes (our own status, labels, finalizers) are not reported, as
 * with controller-runtime's GenerationChangedPredicate and AnnotationChangedPredicate. Resources of
 * other classes are left out entirely.
 */
export function createResourceCache(
  kind: Kind,
  { onChange, onStored = () => undefined, class_name = defaultClass }: CacheOptions,
): ResourceCache {
  const byKey = new Map<string, CachedResource>()
  const index = createTermIndex()

  const put = (object: KubeObject, { overOlder }: { overOlder: boolean }) => {
    const next = toCachedResource(kind, object)
    const before = byKey.get(next.key)
    if (overOlder && before !== undefined && isOlder(next, before)) return
    byKey.set(next.key, next)
    index.set(next.key, termsOf(next))
    onStored(next.key, before)
    if (before === undefined || isRelevant(before, next)) onChange(next.key)
  }
  const drop = (key: string) => {
    const before = byKey.get(key)
    if (!byKey.delete(key)) return
    index.set(key, [])
    onStored(key, before)
    onChange(key)
  }
  const sink = (namespace: string | undefined): ReflectorSink => {
    // A list wins even where its versions are older: a store that was restored from a backup
    // restarts its versions.
    let isListing = false
    return {
      listing: () => {
        isListing = true
      },
      changed: (object) => {
        if (classOf(object) === class_name) put(object, { overOlder: !isListing })
      },
      deleted: (object) => {
        const key = keyOf(object)
        if (byKey.get(key)?.meta.uid === object.metadata.uid) drop(key)
      },
      listed: (uids) => {
        isListing = false
        for (const { key, meta } of [...byKey.values()]) {
          const isHere = namespace === undefined || meta.namespace === namespace
          if (isHere && !uids.has(meta.uid)) drop(key)
        }
      },
    }
  }
  return {
    get: (key) => byKey.get(key),
    keys: () => [...byKey.keys()],
    peers: () => [...byKey.values()].flatMap(({ resource }) => resource ?? []),
    find: (terms) => [...index.find(terms)].flatMap((key) => byKey.get(key) ?? []),
    inNamespace: (namespace) =>
      [...index.find([namespaceTerm(namespace)])].flatMap((key) => byKey.get(key) ?? []),
    notReady: () => [...byKey.values()].filter((cached) => !cached.ready).map(({ key }) => key),
    size: () => byKey.size,
    evict: drop,
    written: (object) => {
      if (byKey.has(keyOf(object))) put(object, { overOlder: true })
    },
    sink,
  }
}

/** Called after each change of the cache, also one that needs no reconcile. */
export type OnStored = (key: string, before: CachedResource | undefined) => void

/** Index terms of a project's id and of its name. */
export const idTerm = (id: string) => `id/${id}`
export const nameTerm = (name: string) => `name/${name}`
const namespaceTerm = (namespace: string) => `namespace/${namespace}`

/** Returns the terms of a resource: its namespace, and its project as declared and as used. */
function termsOf({ project_ref, meta, project }: CachedResource): string[] {
  const { id, name } = project_ref ?? {}
  const ids = [id?.toLowerCase(), project.projectId].flatMap((one) => one ?? [])
  const names = name === undefined ? [] : [nameTerm(name)]
  return [namespaceTerm(meta.namespace), ...new Set(ids.map(idTerm)), ...names]
}

/** Returns the class of a resource: `default` without a `className`, as in an older CRD. */
export function classOf({ spec }: KubeObject): string {
  const named =
    typeof spec === 'object' && spec !== null && 'className' in spec ? spec.className : ''
  return typeof named === 'string' && named !== '' ? named : defaultClass
}

/** Creates an index from terms to keys. */
function createTermIndex() {
  const termsByKey = new Map<string, readonly string[]>()
  const keysByTerm = new Map<string, Set<string>>()
  const remove = (key: string) => {
    for (const term of termsByKey.get(key) ?? []) {
      const keys = keysByTerm.get(term)
      keys?.delete(key)
      if (keys?.size === 0) keysByTerm.delete(term)
    }
    termsByKey.delete(key)
  }
  return {
    /** Replaces the terms of a key. */
    set(key: string, terms: readonly string[]): void {
      remove(key)
      if (terms.length === 0) return
      termsByKey.set(key, terms)
      for (const term of terms) keysByTerm.set(term, (keysByTerm.get(term) ?? new Set()).add(key))
    },
    find: (terms: readonly string[]): ReadonlySet<string> =>
      new Set(terms.flatMap((term) => [...(keysByTerm.get(term) ?? [])])),
  }
}

/** Returns the key of an object: `namespace/name`. */
function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`
}

function isRelevant(before: CachedResource, next: CachedResource): boolean {
  return (
    before.meta.uid !== next.meta.uid ||
    before.meta.generation !== next.meta.generation ||
    before.deleting !== next.deleting ||
    (before.conditions.length > 0 && next.conditions.length === 0) ||
    !isDeepStrictEqual(foreignAnnotations(before), foreignAnnotations(next))
  )
}

/** Returns the annotations that the operator does not write. */
function foreignAnnotations({ meta }: CachedResource): Record<string, string> {
  const { [annotations.external_id]: _, [annotations.project_id]: _p, ...rest } = meta.annotations
  return rest
}

/**
 * Whether an object is older than the cached one. Versions of one resource compare as numbers
 * (KEP-5504); a version that is not a number is never older.
 */
function isOlder(next: CachedResource, before: CachedResource): boolean {
  if (next.meta.uid !== before.meta.uid) return false
  const [a, b] = [next.resource_version, before.resource_version]
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return false
  return BigInt(a) < BigInt(b)
}
