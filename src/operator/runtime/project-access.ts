import { KubeUnavailable } from '../../platform/kube/index.ts'
import { type Kind, NotReady, type Resource } from '../contract.ts'
import { decideGrant, type GrantDecision, type GrantRequest } from '../tenancy/decide-grant.ts'
import type { Grant } from '../tenancy/grant.ts'
import type { GrantBook } from '../tenancy/grant-book.ts'
import type { ProjectStatus } from '../tenancy/project-use.ts'
import type { CachedResource } from './cached-resource.ts'
import { idTerm, nameTerm, type ResourceCache } from './resource-cache.ts'

/** The decisions for the resources of one kind with `projectRef`. */
export type ProjectAccess = {
  decide(cached: CachedResource): GrantDecision
  /**
   * Decides and, if the resource is allowed, counts its keys from now on, so that resources that are
   * reconciled at once do not exceed the maximum together.
   */
  reserve(cached: CachedResource): GrantDecision
  /** Stops counting the keys of a resource that is gone. */
  forget(cached: CachedResource): void
  /**
   * Returns the other resources of the same class that may use the project now: granted, not
   * suspended, not paused and not being deleted.
   */
  rivals(cached: CachedResource, project_id: string): readonly Resource[]
}

/** Decides by the grants in the book and the resources in the cache of the kind. */
export function createProjectAccess(
  kind: Kind,
  cache: ResourceCache,
  book: GrantBook,
): ProjectAccess {
  const toRequest = (cached: CachedResource) => requestOf(cached, kind, book)
  /** Keys that were allowed and may not be in a status yet, by uid. */
  const allowed = new Map<string, HeldKeys>()
  const heldBy = ({ meta, project }: CachedResource): HeldKeys | undefined => {
    const { grant, withdrawal } = project
    if (grant === undefined || withdrawal?.revokedAt !== undefined) return allowed.get(meta.uid)
    return allowed.get(meta.uid) ?? { grant: grant.name, keys: grant.keys ?? 0 }
  }
  /** Returns the decision, which counts the keys that all other resources of the namespace hold. */
  const decideByGrants = (cached: CachedResource): GrantDecision => {
    const request = toRequest(cached)
    if (request.keys === 0) return decideGrant(request, book.grantsFor(cached.meta.namespace))
    const held = cache
      .inNamespace(cached.meta.namespace)
      .filter(({ key }) => key !== cached.key)
      .flatMap((peer) => heldBy(peer) ?? [])
    const keysInUse = ({ name }: Grant) =>
      held.reduce((sum, { grant, keys }) => (grant === name ? sum + keys : sum), 0)
    return decideGrant({ ...request, keysInUse }, book.grantsFor(cached.meta.namespace))
  }
  const decide = (cached: CachedResource): GrantDecision => {
    const decision = decideByGrants(cached)
    const { grant } = cached.project
    // After a rollback of the operator, a newer grant must not end what it allows.
    const isUnreadable = grant !== undefined && book.isUnreadable(grant.name)
    const isRefused = 'refused' in decision && decision.refused === 'NotGranted'
    if (!isUnreadable || !isRefused) return decision
    return { unknown: `ProjectGrant ${grant.name} cannot be read: update the operator` }
  }
  const mayUse = (peer: CachedResource, project_id: string): boolean => {
    if (peer.deleting || peer.paused || peer.resource?.spec.suspend !== false) return false
    const decision = decide(peer)
    return 'allowed' in decision && decision.allowed.project_id === project_id
  }
  return {
    decide,
    reserve: (cached) => {
      const decision = decide(cached)
      const { uid } = cached.meta
      const keys = toRequest(cached).keys
      if (keys > 0 && 'allowed' in decision) {
        allowed.set(uid, { grant: decision.allowed.grant.name, keys })
      } else {
        allowed.delete(uid)
      }
      return decision
    },
    forget: ({ meta }) => void allowed.delete(meta.uid),
    rivals: (cached, project_id) => {
      const own_class = cached.resource?.spec.className
      return cache
        .find([idTerm(project_id), ...[...book.namesOf(project_id)].map(nameTerm)])
        .filter((peer) => peer.key !== cached.key)
        .filter((peer) => peer.resource?.spec.className === own_class && mayUse(peer, project_id))
        .flatMap(({ resource }) => resource ?? [])
    },
  }
}

/** Returns the request of a resource to the grants, without the keys that other resources hold. */
function requestOf(cached: CachedResource, kind: Kind, book: GrantBook): GrantRequest {
  return {
    scopes: [],
    roles: [],
    keys: 0,
    ...(cached.resource && kind.project?.needs?.(cached.resource.spec)),
    namespace: cached.meta.namespace,
    kind: kind.kind,
    namespace_labels: book.labelsOf(cached.meta.namespace),
    project_ref: cached.project_ref,
    bound_id: cached.project.projectId,
    keysInUse: () => 0,
  }
}

/** Keys of a resource under a grant. They count until they are revoked. */
type HeldKeys = { grant: string; keys: number }

/** The project of a resource that may use it, with the grant. */
export type ProjectUsed = ProjectStatus & { projectId: string }

/**
 * Returns the project that a resource may use; undefined for a kind without `projectRef`. Throws
 * `NotReady` with the reason of a refusal, and `KubeUnavailable` while the decision is not known.
 */
export function requireProject(
  kind: Kind,
  cached: CachedResource,
  decision: GrantDecision | undefined,
): ProjectUsed | undefined {
  if (decision === undefined) return undefined
  if ('refused' in decision) {
    throw new NotReady(decision.refused, decision.message, { again_after_ms: notGrantedMs })
  }
  if ('unknown' in decision) {
    const act = { verb: 'read', resource: 'grants', namespace: undefined, name: undefined }
    throw new KubeUnavailable(act, decision.unknown)
  }
  const { grant, project_id } = decision.allowed
  const keys = cached.resource && kind.project?.needs?.(cached.resource.spec).keys
  const used = { name: grant.name, revokeAfter: grant.revoke_after }
  return { projectId: project_id, grant: { ...used, ...(keys !== undefined && { keys }) } }
}

/** Interval at which a refused resource is decided again: others may have released keys. */
const notGrantedMs = 30_000
