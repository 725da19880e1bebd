import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../platform/kube/index.ts'
import type { Kind, Resource } from '../contract.ts'
import { annotations } from '../names.ts'
import { type CachedResource, cachedResource } from './cached-resource.ts'
import type { ReflectorSink } from './reflector.ts'

/** All resources of one kind, as they were last seen. */
export type ResourceCache = {
  get(key: string): CachedResource | undefined
  keys(): readonly string[]
  /** Those whose spec can be read. */
  peers(): readonly Resource[]
  /** Those of them that are about one of these words (`Kind.about`). */
  peersAbout(words: readonly string[]): readonly Resource[]
  /** Keys of those that are not Ready. */
  notReady(): string[]
  size(): number
  /**
   * Takes over what the API server answered to a write of ours, so that its event is no news when
   * it comes, and the next reconcile does not start from before it.
   */
  written(object: KubeObject): void
  /** A sink for one namespace's reflector (undefined: all namespaces). */
  sink(namespace: string | undefined): ReflectorSink
}

/**
 * Keeps resources, slim and with their spec parsed once, and tells of a key when something changed
 * that a reconcile could act on: it is new, or another generation, deletion, annotation, or its
 * status is gone. Other changes (the status that we write, labels, finalizers) are not told
 * (controller-runtime's GenerationChangedPredicate and AnnotationChangedPredicate).
 */
export function createResourceCache(kind: Kind, onChange: (key: string) => void): ResourceCache {
  const byKey = new Map<string, CachedResource>()
  const keysAbout = createWordIndex()
  const wordsOf = ({ resource }: CachedResource) => (resource && kind.about?.(resource)) ?? []

  const put = (object: KubeObject, { overOlder }: { overOlder: boolean }) => {
    const next = cachedResource(kind, object)
    const before = byKey.get(next.key)
    if (overOlder && before !== undefined && isOlder(next, before)) return
    byKey.set(next.key, next)
    keysAbout.set(next.key, wordsOf(next))
    if (before === undefined || isNews(before, next)) onChange(next.key)
  }
  const drop = (key: string) => {
    if (!byKey.delete(key)) return
    keysAbout.set(key, [])
    onChange(key)
  }
  const sink = (namespace: string | undefined): ReflectorSink => {
    // What a list says stands, even where its versions are older: a store that was restored from
    // a backup counts anew.
    let isListing = false
    return {
      listing: () => {
        isListing = true
      },
      changed: (object) => put(object, { overOlder: !isListing }),
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
    peersAbout: (words) =>
      [...keysAbout.find(words)].flatMap((key) => byKey.get(key)?.resource ?? []),
    notReady: () => [...byKey.values()].filter((cached) => !cached.ready).map(({ key }) => key),
    size: () => byKey.size,
    written: (object) => {
      if (byKey.has(keyOf(object))) put(object, { overOlder: true })
    },
    sink,
  }
}

/** Which keys have a word. */
function createWordIndex() {
  const wordsBy = new Map<string, readonly string[]>()
  const keysBy = new Map<string, Set<string>>()
  const forget = (key: string) => {
    for (const word of wordsBy.get(key) ?? []) {
      const keys = keysBy.get(word)
      keys?.delete(key)
      if (keys?.size === 0) keysBy.delete(word)
    }
    wordsBy.delete(key)
  }
  return {
    /** In place of those that it had. */
    set(key: string, words: readonly string[]): void {
      forget(key)
      if (words.length === 0) return
      wordsBy.set(key, words)
      for (const word of words) keysBy.set(word, (keysBy.get(word) ?? new Set()).add(key))
    },
    find: (words: readonly string[]): ReadonlySet<string> =>
      new Set(words.flatMap((word) => [...(keysBy.get(word) ?? [])])),
  }
}

/** `namespace/name`. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`
}

function isNews(before: CachedResource, next: CachedResource): boolean {
  return (
    before.meta.uid !== next.meta.uid ||
    before.meta.generation !== next.meta.generation ||
    before.deleting !== next.deleting ||
    (before.conditions.length > 0 && next.conditions.length === 0) ||
    !isDeepStrictEqual(asked(before), asked(next))
  )
}

/** Annotations that others write. */
function asked({ meta }: CachedResource): Record<string, string> {
  const { [annotations.external_id]: _, ...rest } = meta.annotations
  return rest
}

/**
 * Whether an object is of an earlier version than what is here. Versions of one resource can be
 * compared as numbers (KEP-5504); one that is no number is never older.
 */
function isOlder(next: CachedResource, before: CachedResource): boolean {
  if (next.meta.uid !== before.meta.uid) return false
  const [a, b] = [next.resource_version, before.resource_version]
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return false
  return BigInt(a) < BigInt(b)
}
